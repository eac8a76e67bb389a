// task: vector_add expect: rejected|compile_error|ok|wrong_result|timeout|runtime_fault
// A branch to a label of the compiler.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("bra $L__BB0_1;");
  if (i < n) out[i] = a[i] + b[i];
}
