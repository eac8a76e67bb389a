// cumprod, cummax and logcumsumexp of rows.
__global__ void cumulative(const float* x, float* prod, float* top, float* lse, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float p = 1, m = -INFINITY, l = -INFINITY;
  for (int c = 0; c < cols; ++c) {
    const float v = x[r * cols + c];
    prod[r * cols + c] = p *= v;
    top[r * cols + c] = m = fmaxf(m, v);
    const float a = fmaxf(l, v), b = fminf(l, v);
    lse[r * cols + c] = l = a + log1pf(expf(b - a));
  }
}
