// task: total_sum expect: ok
// The last block to arrive, found by atomicInc behind a fence, adds the partial sums.
// @scratch partial float[32]
// @scratch arrived int[1]
// @launch clear<<<1, 1>>>(arrived)
// @launch kern<<<32, 128>>>(x, partial, arrived, y, n)
__global__ void clear(int* arrived) { *arrived = 0; }
__global__ void kern(const float* x, float* partial, int* arrived, float* y, int n) {
  __shared__ float s[128];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 32 * 128) sum += x[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = s[0];
    __threadfence();
    last = atomicInc((unsigned*)arrived, 31) == 31;
  }
  __syncthreads();
  if (last && threadIdx.x < 32) {
    __threadfence();
    float v = ((volatile float*)partial)[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) *y = v;
  }
}
