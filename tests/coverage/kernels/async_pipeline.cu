// arch: sm_80
// Asynchronous copies by cuda_pipeline.h, by cuda::pipeline and by a barrier.
#include <cuda_pipeline.h>
#include <cuda/barrier>
#include <cuda/pipeline>
__global__ void primitives(const float4* x, float* y, int n) {
  __shared__ float4 s[2][128];
  float sum = 0;
  if (threadIdx.x < n) __pipeline_memcpy_async(&s[0][threadIdx.x], x + threadIdx.x, 16);
  __pipeline_commit();
  for (int i = threadIdx.x, b = 0; i < n; i += 128, b ^= 1) {
    if (i + 128 < n) __pipeline_memcpy_async(&s[b ^ 1][threadIdx.x], x + i + 128, 16, i % 2 ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    const float4 v = s[b][threadIdx.x];
    sum += v.x + v.y + v.z + v.w;
  }
  y[blockIdx.x * 128 + threadIdx.x] = sum;
}
__global__ void with_barrier(const float* x, float* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ float s[256];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int step = 0; step < 4; ++step) {
    cuda::memcpy_async(s + threadIdx.x, x + step * 256 + threadIdx.x, sizeof(float), bar);
    bar.arrive_and_wait();
    y[step * 256 + threadIdx.x] = s[255 - threadIdx.x];
    bar.arrive_and_wait();
  }
}
__global__ void block_pipeline(const float* x, float* y, int tiles) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_thread, 2> unused;
  __shared__ float s[2][128];
  auto pipe = cuda::make_pipeline();
  for (int t = 0, fetched = 0; t < tiles; ++t) {
    for (; fetched < tiles && fetched < t + 2; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[fetched % 2][threadIdx.x], x + fetched * 128 + threadIdx.x, cuda::aligned_size_t<4>(4), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    y[t * 128 + threadIdx.x] = s[t % 2][threadIdx.x] * 2;
    pipe.consumer_release();
  }
}
