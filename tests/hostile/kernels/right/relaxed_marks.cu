// task: histogram expect: ok
// Blocks mark the bins that have keys with relaxed and volatile stores of different values: which of them stays does not
// matter. Bins without a mark are left at zero.
// @scratch marks int[64]
// @launch clear<<<1, 64>>>(counts, marks, bins)
// @launch mark<<<ceil_div(n, 128), 128>>>(keys, marks, n)
// @launch kern<<<ceil_div(n, 128), 128>>>(keys, marks, counts, n)
#include <cuda/atomic>
__global__ void clear(int* counts, int* marks, int bins) {
  if (threadIdx.x < bins) counts[threadIdx.x] = 0;
  marks[threadIdx.x] = 0;
}
__global__ void mark(const int* keys, int* marks, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  if (i % 2) *(volatile int*)&marks[keys[i]] = i + 1;
  else cuda::atomic_ref<int, cuda::thread_scope_device>(marks[keys[i]]).store(i + 1, cuda::memory_order_relaxed);
}
__global__ void kern(const int* keys, const int* marks, int* counts, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && marks[keys[i]] != 0) atomicAdd(&counts[keys[i]], 1);
}
