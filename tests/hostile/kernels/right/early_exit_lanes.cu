// task: softmax_rows expect: ok
// Eight lanes leave at once; the others shuffle with a mask that knows it.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  const unsigned mask = 0x00ffffffu;
  const int lane = threadIdx.x;
  if (lane >= 24) return;
  const float* row = x + blockIdx.x * cols;
  float top = -INFINITY, sum = 0;
  for (int c = lane; c < cols; c += 24) top = fmaxf(top, row[c]);
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_down_sync(mask, top, d);
    if (lane + d < 24) top = fmaxf(top, other);
  }
  top = __shfl_sync(mask, top, 0);
  for (int c = lane; c < cols; c += 24) sum += expf(row[c] - top);
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_down_sync(mask, sum, d);
    if (lane + d < 24) sum += other;
  }
  sum = __shfl_sync(mask, sum, 0);
  for (int c = lane; c < cols; c += 24) y[blockIdx.x * cols + c] = expf(row[c] - top) / sum;
}
