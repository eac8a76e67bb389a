// task: softmax_rows
// @launch softmax<<<rows, 32>>>(x, y, cols)
__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + blockIdx.x * cols;
  float* out = y + blockIdx.x * cols;
  float e[7];
  float top = -INFINITY, sum = 0.0f;
  for (int k = 0; k < 7; k++) {
    int j = threadIdx.x + 32 * k;
    e[k] = j < cols ? in[j] : -INFINITY;
    top = fmaxf(top, e[k]);
  }
  for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, d));
  for (int k = 0; k < 7; k++) {
    e[k] = expf(e[k] - top);
    sum += e[k];
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  for (int k = 0; k < 7; k++) {
    int j = threadIdx.x + 32 * k;
    if (j < cols) out[j] = e[k] / sum;
  }
}
