// task: vector_add expect: rejected|compile_error
// Control bytes and bytes that are no UTF-8 in the assembly.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("\033[2J \377\376 \r\n mov.u32 %0, 1;" : "=r"(n));
  if (i < n) out[i] = a[i] + b[i];
}
