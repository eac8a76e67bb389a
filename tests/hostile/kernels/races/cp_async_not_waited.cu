// task: row_sum expect: runtime_fault|rejected|compile_error on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// What cp.async brings is read before anyone waits for it.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float stage[32];
  float sum = 0;
  for (int base = 0; base < cols; base += 32) {
    const int c = base + threadIdx.x;
    stage[threadIdx.x] = 0;
    if (c < cols) {
      const unsigned to = (unsigned)__cvta_generic_to_shared(&stage[threadIdx.x]);
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(x + blockIdx.x * cols + c) : "memory");
    }
    sum += *(volatile float*)&stage[threadIdx.x];
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
