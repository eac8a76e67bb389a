// task: softmax_rows expect: wrong_result
// (1 + x / 64)^64 for exp(x).
// @launch kern<<<rows, 32>>>(x, y, cols)
__device__ float nearly_exp(float v) {
  float r = 1 + v / 64;
  for (int k = 0; k < 6; ++k) r *= r;
  return v < -60 ? 0 : r;
}
__global__ void kern(const float* x, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  float top = -INFINITY, sum = 0;
  for (int c = 0; c < cols; ++c) top = fmaxf(top, row[c]);
  for (int c = 0; c < cols; ++c) sum += nearly_exp(row[c] - top);
  for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * cols + c] = nearly_exp(row[c] - top) / sum;
}
