// task: vector_add expect: rejected|compile_error|runtime_fault
// A call of an address that is a number.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .b64 f; proto: .callprototype _ (); mov.u64 f, 4096; call f, (), proto;}");
  if (i < n) out[i] = a[i] + b[i];
}
