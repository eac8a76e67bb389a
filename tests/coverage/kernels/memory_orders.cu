// Fences, volatile accesses, cache hints, prefetches, a producer and a consumer block.
__device__ volatile int ready;
__device__ float exchanged[256];
__global__ void producer_consumer(const float* x, float* y) {
  if (blockIdx.x == 0) {
    exchanged[threadIdx.x] = x[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) ready = 1;
  } else {
    if (threadIdx.x == 0)
      while (!ready) __nanosleep(20);
    __syncthreads();
    __threadfence();
    y[threadIdx.x] = ((volatile float*)exchanged)[threadIdx.x];
  }
}
__global__ void hints(const float4* __restrict__ x, float4* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1024 < n) asm volatile("prefetch.global.L2 [%0];" :: "l"(x + i + 1024));
  if (i >= n) return;
  float4 v = __ldcs(x + i);
  v.x += __ldg(&x[i].y) + __ldca(&x[i].z) + __ldlu(&x[i].w) + __ldcv(&x[i].x) + __ldcg(&x[i].x);
  __stcs(y + i, v);
  __threadfence_block();
  __stwt(&y[i].x, v.y);
  __threadfence_system();
}
