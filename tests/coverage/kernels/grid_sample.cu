// Bilinear and nearest sampling at given places with padding modes.
__global__ void grid_sample(const float* x, const float2* grid, float* y, int channels, int h, int w, int oh, int ow, int mode) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = blockIdx.y;
  if (i >= oh * ow) return;
  const float2 g = grid[(size_t)n * oh * ow + i];
  const float fx = ((g.x + 1) * w - 1) / 2, fy = ((g.y + 1) * h - 1) / 2;
  for (int c = 0; c < channels; ++c) {
    const float* p = x + ((size_t)n * channels + c) * h * w;
    float v = 0;
    if (mode == 1) {
      const int ix = __float2int_rn(fx), iy = __float2int_rn(fy);
      if (ix >= 0 && ix < w && iy >= 0 && iy < h) v = p[iy * w + ix];
    } else {
      const int x0 = (int)floorf(fx), y0 = (int)floorf(fy);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int ix = x0 + (k & 1), iy = y0 + (k >> 1);
        if (ix >= 0 && ix < w && iy >= 0 && iy < h) v += p[iy * w + ix] * (1 - fabsf(fx - ix)) * (1 - fabsf(fy - iy));
      }
    }
    y[((size_t)n * channels + c) * oh * ow + i] = v;
  }
}
