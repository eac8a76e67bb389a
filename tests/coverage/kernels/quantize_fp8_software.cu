// 8-bit floats by integer arithmetic: e4m3 with saturation, there and back.
__device__ unsigned char to_e4m3(float f) {
  const unsigned u = __float_as_uint(f), sign = u >> 24 & 0x80;
  float a = fabsf(f);
  if (!(a <= 448.f)) return sign | (isnan(f) ? 0x7f : 0x7e);
  if (a < 0.015625f) return sign | (unsigned)__float2int_rn(a * 512.f);
  unsigned r = __float_as_uint(a);
  r += 0x7ffff + (r >> 20 & 1);
  return sign | (unsigned char)min((r >> 20) - (120 << 3), 0x7eu);
}
__device__ float from_e4m3(unsigned char b) {
  const int e = b >> 3 & 15, m = b & 7;
  const float v = e == 0 ? ldexpf((float)m, -9) : e == 15 && m == 7 ? NAN : ldexpf(1.f + m / 8.f, e - 7);
  return copysignf(v, b & 0x80 ? -1.f : 1.f);
}
__global__ void fp8_round_trip(const float* x, unsigned char* q, float* y, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = from_e4m3(q[i] = to_e4m3(x[i] * scale)) / scale;
}
