// task: row_max expect: ok
// One lane publishes with a fence and a flag; another lane of the same warp waits for it.
// @launch kern<<<m, 32>>>(src, dst, n)
__global__ void kern(const float* src, float* dst, int n) {
  __shared__ float left;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncwarp();
  float best = -INFINITY;
  if (threadIdx.x == 3) {
    for (int c = 0; c < n / 2; ++c) best = fmaxf(best, src[blockIdx.x * n + c]);
    left = best;
    __threadfence_block();
    ready = 1;
  } else if (threadIdx.x == 20) {
    for (int c = n / 2; c < n; ++c) best = fmaxf(best, src[blockIdx.x * n + c]);
    while (ready == 0) {
    }
    __threadfence_block();
    dst[blockIdx.x] = fmaxf(best, left);
  }
}
