// task: prefix_sum expect: ok max-speedup: 16
// A chain without tickets: each block waits for the one before it in the grid, which a GPU starts earlier. Far more blocks
// than it holds, one hand-over after another.
// @scratch sums float[ceil_div(n, 64)]
// @scratch ready int[sums.size]
// @launch clear<<<ceil_div(sums.size, 128), 128>>>(ready, sums.size)
// @launch kern<<<sums.size, 64>>>(x, y, sums, ready, n)
__global__ void clear(int* ready, int size) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < size) ready[i] = 0;
}
__global__ void kern(const float* x, float* y, float* sums, int* ready, int n) {
  __shared__ float first_half, before;
  const int i = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x % 32;
  float sum = i < n ? x[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const float left = __shfl_up_sync(~0u, sum, d);
    if (lane >= d) sum += left;
  }
  if (threadIdx.x == 31) first_half = sum;
  __syncthreads();
  if (threadIdx.x >= 32) sum += first_half;
  if (threadIdx.x == 63) {
    float earlier = 0;
    if (blockIdx.x > 0) {
      while (((volatile int*)ready)[blockIdx.x - 1] == 0) {}
      __threadfence();
      earlier = ((volatile float*)sums)[blockIdx.x - 1];
    }
    ((volatile float*)sums)[blockIdx.x] = earlier + sum;
    __threadfence();
    ((volatile int*)ready)[blockIdx.x] = 1;
    before = earlier;
  }
  __syncthreads();
  if (i < n) y[i] = sum + before;
}
