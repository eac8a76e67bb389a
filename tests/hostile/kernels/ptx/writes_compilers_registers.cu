// task: vector_add expect: ok|wrong_result|runtime_fault|nondeterministic|timeout|rejected|compile_error
// Assigns to registers that belong to the compiler.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("mov.b32 %%r1, 7; mov.b64 %%rd1, 8;" : "+r"(n));
  if (i < n) out[i] = a[i] + b[i];
}
