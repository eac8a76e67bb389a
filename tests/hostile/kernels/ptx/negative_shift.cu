// task: vector_add expect: ok
// Shifts by 2^32 - 1.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .b32 x; mov.b32 x, 1; shl.b32 x, x, 0xffffffff; shr.s32 x, x, 0xffffffff;}" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
