// task: kl_divergence expect: wrong_result
// The maxima leave out the last column, which matters only where that is far larger than all others.
// @launch kern<<<ceil_div(rows, 128), 128>>>(a, b, kl, rows, cols)
__global__ void kern(const float* a, const float* b, float* kl, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float ma = -INFINITY, mb = -INFINITY, sa = 0.0f, sb = 0.0f, acc = 0.0f;
  for (int j = 0; j < cols - 1; j++) {
    ma = fmaxf(ma, a[r * cols + j]);
    mb = fmaxf(mb, b[r * cols + j]);
  }
  for (int j = 0; j < cols; j++) {
    sa += expf(a[r * cols + j] - ma);
    sb += expf(b[r * cols + j] - mb);
  }
  const float la = logf(sa), lb = logf(sb);
  for (int j = 0; j < cols; j++) {
    const float p = a[r * cols + j] - ma - la, q = b[r * cols + j] - mb - lb;
    acc += expf(p) * (p - q);
  }
  kl[r] = acc;
}
