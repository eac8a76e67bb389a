// emulate: --launch 'relay<<<1, 64>>>(x, y, 8)' --buffer x=i32[8,32]:arange --buffer y=i32[8,32]
// holds: y = 32 31 30 29 28 27 26 25
// One warp fills a buffer and another empties it; two barriers say when it is full and when empty.
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void relay(const int* x, int* y, int rounds) {
  __shared__ int slot[32];
  __shared__ barrier full, empty;
  if (threadIdx.x == 0) {
    init(&full, 64);
    init(&empty, 64);
  }
  __syncthreads();
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; ++r) {
      empty.arrive_and_wait();
      slot[lane] = x[r * 32 + lane] + 1;
      barrier::arrival_token token = full.arrive();
    }
  } else {
    barrier::arrival_token token = empty.arrive();
    for (int r = 0; r < rounds; ++r) {
      full.arrive_and_wait();
      y[r * 32 + lane] = slot[31 - lane];
      token = empty.arrive();
    }
  }
}
