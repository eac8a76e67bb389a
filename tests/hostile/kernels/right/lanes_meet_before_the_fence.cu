// task: total_sum expect: ok
// A warp stores, meets, and one lane publishes for all.
// @scratch part float[ceil_div(n, 32) * 32]
// @scratch count int[1]
// @launch clear<<<1, 1>>>(count)
// @launch kern<<<ceil_div(n, 32), 32>>>(x, part, count, y, n)
__global__ void clear(int* count) { *count = 0; }
__global__ void kern(const float* x, float* part, int* count, float* y, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  part[i] = i < n ? x[i] : 0;
  __syncwarp();
  int ticket = 0;
  if (threadIdx.x == 0) {
    __threadfence();
    ticket = atomicAdd(count, 1);
    __threadfence();
  }
  ticket = __shfl_sync(~0u, ticket, 0);
  if (ticket != gridDim.x - 1) return;
  float sum = 0;
  for (int k = threadIdx.x; k < gridDim.x * 32; k += 32) sum += part[k];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) *y = sum;
}
