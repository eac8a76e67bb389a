// task: row_sum
// @launch rows_of<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
__global__ void rows_of(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + r * cols;
  float sums[32];  // of the ones in the bits of j
  for (int j = 0; j < cols; j++) {
    float acc = row[j];
    int level = 0;
    for (int bits = j; bits & 1; bits >>= 1) acc += sums[level++];
    sums[level] = acc;
  }
  float acc = 0.0f;
  for (int level = 0; level < 32; level++)
    if (cols >> level & 1) acc += sums[level];
  y[r] = acc;
}
