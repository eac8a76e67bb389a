// task: row_sum expect: ok min-speedup: 0.6
// A warp that loads and a warp that adds, with two buffers, each with an mbarrier for full and one for empty.
// @launch kern<<<rows, 64>>>(x, y, cols)
__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(unsigned long long* b, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count) : "memory");
}
__device__ void arrive(unsigned long long* b) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(b)) : "memory");
}
__device__ bool has_ended(unsigned long long* b, int parity) {
  int ended;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(ended) : "r"(shared_address(b)), "r"(parity) : "memory");
  return ended != 0;
}
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float buffer[2][32];
  __shared__ unsigned long long full[2], empty[2];
  const int lane = threadIdx.x % 32, steps = (cols + 31) / 32;
  if (threadIdx.x < 2) init(&full[threadIdx.x], 32), init(&empty[threadIdx.x], 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int k = 0; k < steps; ++k) {
      if (k >= 2) while (!has_ended(&empty[k % 2], (k / 2 - 1) % 2)) {}
      const int c = k * 32 + lane;
      buffer[k % 2][lane] = c < cols ? x[blockIdx.x * cols + c] : 0;
      arrive(&full[k % 2]);
    }
  } else {
    float sum = 0;
    for (int k = 0; k < steps; ++k) {
      while (!has_ended(&full[k % 2], k / 2 % 2)) {}
      sum += buffer[k % 2][lane];
      arrive(&empty[k % 2]);
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) y[blockIdx.x] = sum;
  }
}
