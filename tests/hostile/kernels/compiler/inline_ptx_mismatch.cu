// task: vector_add expect: compile_error
// A float for an integer operand, which ptxas finds.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  int bits = 0;
  asm("mov.u32 %0, %1;" : "=r"(bits) : "f"(a[0]));
  if (i < n) out[i] = a[i] + b[i] + bits;
}
