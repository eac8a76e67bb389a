// task: total_sum expect: ok
// cuda::atomic_ref with scopes and orders.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<8, 64>>>(x, y, n)
#include <cuda/atomic>
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  __shared__ float block;
  if (threadIdx.x == 0) block = 0;
  __syncthreads();
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 512) sum += x[i];
  cuda::atomic_ref<float, cuda::thread_scope_block> here(block);
  here.fetch_add(sum, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) cuda::atomic_ref<float, cuda::thread_scope_device>(*y).fetch_add(block, cuda::memory_order_relaxed);
}
