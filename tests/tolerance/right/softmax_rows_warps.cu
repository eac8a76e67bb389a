// task: softmax_rows
// @launch rows_of<<<rows, 32>>>(x, y, cols)
__device__ float sum_of_warp(float v) {
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(~0u, v, s);
  return v;
}
__global__ void rows_of(const float* x, float* y, int cols) {
  int r = blockIdx.x, lane = threadIdx.x;
  const float* row = x + r * cols;
  float m = -INFINITY, sum = 0.0f;
  for (int j = lane; j < cols; j += 32) m = fmaxf(m, row[j]);
  for (int s = 16; s > 0; s /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, s));
  for (int j = lane; j < cols; j += 32) sum += expf(row[j] - m);
  sum = sum_of_warp(sum);
  for (int j = lane; j < cols; j += 32) y[r * cols + j] = expf(row[j] - m) / sum;
}
