// task: total_sum expect: runtime_fault on-gpu: runtime_fault|ok
// One partial sum more than the scratch buffer holds.
// @scratch partial float[ceil_div(n, 256)]
// @launch sums<<<ceil_div(n, 256) + 1, 256>>>(x, partial, n)
// @launch total<<<1, 1>>>(partial, y, partial.size)
__global__ void sums(const float* x, float* partial, int n) {
  __shared__ float s[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
__global__ void total(const float* partial, float* y, int m) {
  float sum = 0;
  for (int i = 0; i < m; ++i) sum += partial[i];
  *y = sum;
}
