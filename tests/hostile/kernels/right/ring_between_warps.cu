// task: row_sum expect: ok
// A warp fills a ring in shared memory that another empties; counters by acquire and release of block scope.
// @launch kern<<<rows, 64>>>(x, y, cols)
#include <cuda/atomic>
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float ring[4][32];
  __shared__ int head, tail;
  if (threadIdx.x == 0) head = tail = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> h(head), t(tail);
  int lane = threadIdx.x % 32, steps = (cols + 31) / 32;
  if (threadIdx.x < 32) {
    for (int s = 0; s < steps; s++) {
      if (lane == 0) while (s - t.load(cuda::memory_order_acquire) >= 4) {}
      __syncwarp();
      int c = s * 32 + lane;
      ring[s % 4][lane] = c < cols ? x[blockIdx.x * cols + c] : 0;
      __syncwarp();
      if (lane == 0) h.store(s + 1, cuda::memory_order_release);
    }
  } else {
    float v = 0;
    for (int s = 0; s < steps; s++) {
      if (lane == 0) while (h.load(cuda::memory_order_acquire) <= s) {}
      __syncwarp();
      v += ring[s % 4][lane];
      __syncwarp();
      if (lane == 0) t.store(s + 1, cuda::memory_order_release);
    }
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (lane == 0) y[blockIdx.x] = v;
  }
}
