// task: rope expect: ok
// sincosf, frexpf and modff write through pointers; what they give is put together again.
// @launch kern<<<rows, 32>>>(x, co, si, y, half)
__global__ void kern(const float* x, const float* co, const float* si, float* y, int half) {
  const int r = blockIdx.x;
  for (int j = threadIdx.x; j < half; j += 32) {
    int exponent;
    const float mantissa = frexpf(x[r * 2 * half + j], &exponent);
    float whole;
    const float rest = modff(x[r * 2 * half + half + j], &whole);
    const float a = ldexpf(mantissa, exponent), b = whole + rest;
    float s, c;
    sincosf(0.0f, &s, &c);
    y[r * 2 * half + j] = c * (a * co[r * half + j] - b * si[r * half + j]) + s;
    y[r * 2 * half + half + j] = a * si[r * half + j] + b * co[r * half + j];
  }
}
