// emulate: --launch 'work<<<6, 64>>>(shared_sum)' --buffer shared_sum=i32[2]:zeros
// holds: shared_sum = 6 21
// A ticket lock by cuda::atomic_ref, taken by the first thread of each block.
#include <cuda/atomic>
__device__ unsigned next_ticket = 0, now_serving = 0;
__global__ void work(int* shared_sum) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> next(next_ticket), serving(now_serving);
  unsigned mine = next.fetch_add(1, cuda::memory_order_relaxed);
  while (serving.load(cuda::memory_order_acquire) != mine) __nanosleep(20);
  shared_sum[0] += 1;
  shared_sum[1] += blockIdx.x + 1;
  serving.store(mine + 1, cuda::memory_order_release);
}
