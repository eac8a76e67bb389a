// task: vector_add expect: timeout|runtime_fault|rejected|compile_error on-gpu: timeout|compile_error|rejected
// Waits for a phase of an mbarrier that never completes.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  __shared__ unsigned long long bar;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1000;" :: "r"(at) : "memory");
  __syncthreads();
  unsigned done = 0;
  while (!done) asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
