// task: vector_add expect: rejected|compile_error
// A predicate as an operand of add.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .pred p; .reg .b32 x; setp.eq.s32 p, 1, 1; add.s32 x, p, 1;}" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
