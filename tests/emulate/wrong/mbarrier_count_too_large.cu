// emulate: --launch 'wait<<<1, 64>>>(y)' --buffer y=i32[64]
// fault: deadlock 10|11|12
// The barrier expects one more thread than the block has.
__global__ void wait(int* y) {
  __shared__ unsigned long long bar;
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&bar)), done = 0;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x + 1));
  __syncthreads();
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(at) : "memory");
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at) : "memory");
  y[threadIdx.x] = 1;
}
