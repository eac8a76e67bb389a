// task: total_sum expect: ok
// Loads past the L1 cache wait for flags, as code for older GPUs does.
// @scratch part float[16]
// @launch clear<<<1, 1>>>()
// @launch kern<<<16, 32>>>(x, part, y, n)
__device__ int flags[16];
__global__ void clear() { for (int i = 0; i < 16; i++) flags[i] = 0; }
__global__ void kern(const float* x, float* part, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) { part[blockIdx.x] = sum; __threadfence(); atomicExch(&flags[blockIdx.x], 1); }
  if (blockIdx.x || threadIdx.x) return;
  sum = 0;
  for (int b = 0; b < 16; b++) {
    int f; do asm volatile("ld.global.cg.b32 %0, [%1];" : "=r"(f) : "l"(flags + b) : "memory"); while (!f);
    __threadfence();
    sum += part[b];
  }
  *y = sum;
}
