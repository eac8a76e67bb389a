// task: vector_add expect: rejected|compile_error|runtime_fault|ok
// ld.param behind the last parameter.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned v;
  asm volatile("ld.param.u32 %0, [_Z4kernPKfS0_Pfi_param_3+4000];" : "=r"(v));
  n += v == 123456789;
  if (i < n) out[i] = a[i] + b[i];
}
