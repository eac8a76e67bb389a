// task: total_sum expect: ok
// A fence of one thread after a barrier is one of the block.
// @scratch part float[ceil_div(n, 256) * 8]
// @scratch count int[1]
// @launch clear<<<1, 1>>>(count)
// @launch kern<<<ceil_div(n, 256), 256>>>(x, part, count, y, n)
__global__ void clear(int* count) { *count = 0; }
__global__ void kern(const float* x, float* part, int* count, float* y, int n) {
  __shared__ bool last;
  const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, at = blockIdx.x * 8 + threadIdx.x / 32;
  float v = i < n ? x[i] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (lane == 0) part[at] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  __threadfence();
  float sum = 0;
  for (int b = 0; b < gridDim.x * 8; ++b) sum += part[b];
  *y = sum;
}
