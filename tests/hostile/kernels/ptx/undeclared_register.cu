// task: vector_add expect: rejected|compile_error
// A register that nobody declared.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("mov.b32 undeclared, 1;" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
