// task: row_mean expect: ok min-speedup: 0.6
// A barrier of eight blocks of 768 threads, as many as the smallest modelled GPU holds; sums, then their division.
// @scratch sums float[h]
// @scratch arrived int[1]
// @launch clear<<<1, 1>>>(arrived)
// @launch kern<<<8, 768>>>(data, out, sums, arrived, h, w)
__global__ void clear(int* arrived) { *arrived = 0; }
__global__ void kern(const float* data, float* out, float* sums, int* arrived, int h, int w) {
  for (int r = blockIdx.x * 24 + threadIdx.x / 32; r < h; r += 24 * gridDim.x) {
    float sum = 0;
    for (int c = threadIdx.x % 32; c < w; c += 32) sum += data[r * w + c];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) sums[r] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (*(volatile int*)arrived != gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  for (int r = blockIdx.x * 768 + threadIdx.x; r < h; r += 768 * gridDim.x) out[r] = __ldcg(&sums[r]) / w;
}
