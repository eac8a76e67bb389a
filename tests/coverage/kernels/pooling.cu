// Maximum, average and adaptive pooling with indices.
__global__ void max_pool(const float* x, float* y, long long* index, int h, int w, int oh, int ow, int k, int stride, int pad, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int ox = i % ow, oy = i / ow % oh, nc = i / (ow * oh);
  float best = -INFINITY;
  long long at = -1;
  for (int r = max(oy * stride - pad, 0); r < min(oy * stride - pad + k, h); ++r)
    for (int c = max(ox * stride - pad, 0); c < min(ox * stride - pad + k, w); ++c) {
      const float v = x[((size_t)nc * h + r) * w + c];
      if (v > best || isnan(v)) best = v, at = (long long)r * w + c;
    }
  y[i] = best;
  index[i] = at;
}
__global__ void max_pool_backward(const float* dy, const long long* index, float* dx, int out, int in, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) atomicAdd(dx + (size_t)(i / out) * in + index[i], dy[i]);
}
__global__ void adaptive_average(const float* x, float* y, int h, int w, int oh, int ow) {
  const int ox = threadIdx.x, oy = threadIdx.y, nc = blockIdx.x;
  const int y0 = oy * h / oh, y1 = ((oy + 1) * h + oh - 1) / oh, x0 = ox * w / ow, x1 = ((ox + 1) * w + ow - 1) / ow;
  float s = 0;
  for (int r = y0; r < y1; ++r)
    for (int c = x0; c < x1; ++c) s += x[((size_t)nc * h + r) * w + c];
  y[((size_t)nc * oh + oy) * ow + ox] = s / ((y1 - y0) * (x1 - x0));
}
