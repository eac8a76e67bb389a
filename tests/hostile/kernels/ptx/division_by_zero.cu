// task: vector_add expect: ok|runtime_fault|compile_error
// Division by zero and of the smallest number by -1.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .s32 x; .reg .s64 y; mov.s32 x, 0; mov.s64 y, 0; div.s32 x, 0x80000000, x; rem.s32 x, 0x80000000, -1; div.s64 y, 0x8000000000000000, -1; rem.s64 y, y, 0;}" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
