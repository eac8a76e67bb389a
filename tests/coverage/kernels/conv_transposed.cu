// Transposed convolution by gathering.
__global__ void conv_transposed(const float* x, const float* w, float* y, int in_channels, int out_channels, int ih, int iw, int k, int stride, int pad) {
  const int oh = (ih - 1) * stride - 2 * pad + k, ow = (iw - 1) * stride - 2 * pad + k;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= out_channels * oh * ow) return;
  const int ox = i % ow, oy = (i / ow) % oh, oc = i / (oh * ow);
  float v = 0;
  for (int r = 0; r < k; ++r) {
    const int ty = oy + pad - r;
    if (ty < 0 || ty % stride || ty / stride >= ih) continue;
    for (int s = 0; s < k; ++s) {
      const int tx = ox + pad - s;
      if (tx < 0 || tx % stride || tx / stride >= iw) continue;
      for (int ic = 0; ic < in_channels; ++ic)
        v += x[(ic * ih + ty / stride) * iw + tx / stride] * w[((ic * out_channels + oc) * k + r) * k + s];
    }
  }
  y[i] = v;
}
