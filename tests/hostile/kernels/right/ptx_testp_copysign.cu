// task: abs_diff expect: ok
// testp, copysign, fma with modes, min with NaN.
// @launch kern<<<ceil_div(len, 128), 128>>>(lhs, rhs, z, len)
__global__ void kern(const float* lhs, const float* rhs, float* z, int len) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= len) return;
  float v, r;
  asm("sub.rn.f32 %0, %1, %2;" : "=f"(v) : "f"(lhs[i]), "f"(rhs[i]));
  asm("{.reg .pred p; testp.infinite.f32 p, %1; copysign.f32 %0, 0f3F800000, %1; @p mov.f32 %0, 0f7FC00000;}" : "=f"(r) : "f"(v));
  asm("copysign.f32 %0, %2, %1;" : "=f"(r) : "f"(v), "f"(1.0f));
  z[i] = r;
}
