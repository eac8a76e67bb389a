// task: total_sum expect: runtime_fault on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// The last block adds partial sums, but nobody fenced them.
// @scratch partial float[32]
// @scratch arrived int[1]
// @launch clear<<<1, 1>>>(arrived)
// @launch kern<<<32, 64>>>(x, partial, arrived, y, n)
__global__ void clear(int* arrived) { *arrived = 0; }
__global__ void kern(const float* x, float* partial, int* arrived, float* y, int n) {
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 2048) sum += x[i];
  __shared__ float s[64];
  s[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int t = 1; t < 64; ++t) sum += s[t];
    partial[blockIdx.x] = sum;
    last = atomicAdd(arrived, 1) == 31;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (int b = 0; b < 32; ++b) total += partial[b];
    *y = total;
  }
}
