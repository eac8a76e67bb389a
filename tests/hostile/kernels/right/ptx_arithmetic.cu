// task: vector_mul expect: ok
// Inline PTX: mul, and moves between registers of float and of bits.
// @launch kern<<<ceil_div(len, 128), 128>>>(u, v, res, len)
__global__ void kern(const float* u, const float* v, float* res, int len) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= len) return;
  float p;
  unsigned bits;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(p) : "f"(u[i]), "f"(v[i]));
  asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(p));
  res[i] = __uint_as_float(bits);
}
