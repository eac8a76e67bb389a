// task: vector_add expect: runtime_fault|ok|wrong_result|timeout|rejected|compile_error
// Arrives at an mbarrier that nobody initialised.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  __shared__ unsigned long long bar;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
  asm volatile("{.reg .b64 t; mbarrier.arrive.shared.b64 t, [%0];}" :: "r"(at) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
