// Concatenation and splitting with tables of pointers in a parameter.
struct Parts { const float* from[8]; int cols[8]; int count; };
__global__ void concat(Parts parts, float* y, int total) {
  int begin = 0;
  for (int p = 0; p < parts.count; ++p) {
    for (int c = threadIdx.x; c < parts.cols[p]; c += blockDim.x) y[(size_t)blockIdx.x * total + begin + c] = parts.from[p][(size_t)blockIdx.x * parts.cols[p] + c];
    begin += parts.cols[p];
  }
}
__global__ void pad_reflect(const float* x, float* y, int h, int w, int p) {
  const int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y;
  if (ox >= w + 2 * p) return;
  int ix = abs(ox - p), iy = abs(oy - p);
  ix = ix >= w ? 2 * w - 2 - ix : ix;
  iy = iy >= h ? 2 * h - 2 - iy : iy;
  y[oy * (w + 2 * p) + ox] = x[iy * w + ix];
}
