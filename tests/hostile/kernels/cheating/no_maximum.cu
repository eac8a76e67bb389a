// task: softmax_rows expect: ok|wrong_result
// exp without the maximum: right for tame inputs only, and the inputs of a run are.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += expf(row[c]);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * cols + c] = expf(row[c]) / sum;
}
