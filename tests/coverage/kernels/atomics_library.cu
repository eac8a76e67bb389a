// cuda::atomic, cuda::atomic_ref, orders, a lock and a queue.
#include <cuda/atomic>
__device__ cuda::atomic<int, cuda::thread_scope_device> counter;
__global__ void orders(int* x, unsigned long long* y, float* z) {
  cuda::atomic_ref<int, cuda::thread_scope_block> a(x[threadIdx.x]);
  int seen = a.load(cuda::memory_order_acquire);
  while (!a.compare_exchange_weak(seen, seen * 2, cuda::memory_order_acq_rel)) {}
  a.fetch_max(7);
  a.fetch_and(~1, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> b(*y);
  b.fetch_add(seen, cuda::memory_order_release);
  b.fetch_xor(1);
  cuda::atomic_ref<float, cuda::thread_scope_device>(*z).fetch_add(1.5f, cuda::memory_order_relaxed);
  counter.fetch_add(1);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  counter.store(counter.load(cuda::memory_order_relaxed) | 1, cuda::memory_order_release);
}
