// task: softmax_rows expect: ok on-gpu: ok|timeout
// A thread for each element, which finds the maximum and the sum of its row by itself.
// @launch softmax<<<dim3(ceil_div(cols, 64), rows), 64>>>(x, y, cols)
__global__ void softmax(const float* x, float* y, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  const float* row = x + static_cast<size_t>(blockIdx.y) * cols;
  float most = row[0], sum = 0;
  for (int j = 1; j < cols; j++) most = fmaxf(most, row[j]);
  for (int j = 0; j < cols; j++) sum += expf(row[j] - most);
  y[static_cast<size_t>(blockIdx.y) * cols + c] = expf(row[c] - most) / sum;
}
