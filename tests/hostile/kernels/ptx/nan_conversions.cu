// task: vector_add expect: ok
// Conversions of NaN, infinity and numbers out of range.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .f32 x; .reg .s32 y; .reg .u64 z; .reg .b16 h; mov.f32 x, 0f7FC00000; cvt.rni.s32.f32 y, x; cvt.rzi.u64.f32 z, x; mov.f32 x, 0fFF800000; cvt.rzi.s32.f32 y, x; cvt.rn.f16.f32 h, x;}" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
