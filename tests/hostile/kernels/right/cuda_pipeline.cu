// task: row_sum expect: ok|rejected
// cuda::pipeline with memcpy_async: two stages for each thread.
// @launch kern<<<rows, 32>>>(x, y, cols)
#include <cuda/pipeline>
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float stage[2][32];
  const float* row = x + blockIdx.x * cols;
  auto pipe = cuda::make_pipeline();
  float sum = 0;
  const auto fetch = [&](int base, int s) {
    pipe.producer_acquire();
    if (base + (int)threadIdx.x < cols) cuda::memcpy_async(&stage[s][threadIdx.x], row + base + threadIdx.x, sizeof(float), pipe);
    pipe.producer_commit();
  };
  fetch(0, 0);
  for (int base = 0, s = 0; base < cols; base += 32, s ^= 1) {
    fetch(base + 32, s ^ 1);
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    if (base + (int)threadIdx.x < cols) sum += stage[s][threadIdx.x];
    pipe.consumer_release();
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
