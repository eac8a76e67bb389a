// task: vector_add expect: rejected|compile_error
// An operand of the wrong type.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .f32 x; .reg .b64 y; mov.b64 y, 1; add.f32 x, y, y;}" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
