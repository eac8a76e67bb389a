// im2col and its inverse, with strides, padding and dilation.
__global__ void im2col(const float* x, float* cols, int n, int h, int w, int kh, int kw, int pad, int stride, int dilation, int oh, int ow) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const int ox = i % ow, oy = i / ow % oh, c = i / ow / oh;
    float* to = cols + ((size_t)c * kh * kw * oh + oy) * ow + ox;
    for (int r = 0; r < kh; ++r)
      for (int s = 0; s < kw; ++s) {
        const int iy = oy * stride - pad + r * dilation, ix = ox * stride - pad + s * dilation;
        *to = iy >= 0 && ix >= 0 && iy < h && ix < w ? x[(c * h + iy) * w + ix] : 0;
        to += oh * ow;
      }
  }
}
__global__ void col2im(const float* cols, float* x, int n, int h, int w, int kh, int kw, int pad, int stride, int oh, int ow) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const int ix = i % w + pad, iy = i / w % h + pad, c = i / (w * h);
    float v = 0;
    for (int oy = max(0, (iy - kh) / stride + (iy >= kh)); oy < min(iy / stride + 1, oh); ++oy)
      for (int ox = max(0, (ix - kw) / stride + (ix >= kw)); ox < min(ix / stride + 1, ow); ++ox) {
        const int r = iy - oy * stride, s = ix - ox * stride;
        v += cols[(((c * kh + r) * kw + s) * oh + oy) * ow + ox];
      }
    x[i] = v;
  }
}
