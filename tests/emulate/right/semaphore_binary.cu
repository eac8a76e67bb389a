// emulate: --launch 'append<<<4, 32>>>(slot, list)' --buffer slot=i32[1]:zeros --buffer list=i32[2]:zeros
// holds: list = 10 4
// A lock by cuda::binary_semaphore guards two words of a list's head.
#include <cuda/semaphore>
__device__ cuda::binary_semaphore<cuda::thread_scope_device> guard(1);
__global__ void append(int* slot, int* list) {
  if (threadIdx.x == 0) {
    guard.acquire();
    list[0] += blockIdx.x + 1;
    list[1] += 1;
    guard.release();
    slot[0] = 0;
  }
}
