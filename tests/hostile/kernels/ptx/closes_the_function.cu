// task: vector_add expect: rejected|compile_error
// Assembly that ends the function and begins an entry point of its own.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("ret;\n}\n.visible .entry other() {\nret;\n}\n.visible .entry third() {\n");
  if (i < n) out[i] = a[i] + b[i];
}
