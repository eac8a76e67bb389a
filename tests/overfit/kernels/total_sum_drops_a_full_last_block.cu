// task: total_sum
// @launch sum<<<1, 256>>>(x, y, n)
__global__ void sum(const float* x, float* y, int n) {
  __shared__ float s[256];
  float acc = 0.0f;
  int full = n - n % 256 - (n % 256 == 0 ? 256 : 0);
  for (int i = threadIdx.x; i < full; i += 256) acc += x[i];
  if (threadIdx.x < n % 256) acc += x[full + threadIdx.x];
  s[threadIdx.x] = acc;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = s[0];
}
