// task: row_sum expect: ok|wrong_result|runtime_fault on-gpu: ok|wrong_result|flagged
// Keeps the sum of the last row with the same first element.
// @launch kern<<<rows, 1>>>(x, y, cols)
__device__ float first[4096], kept[4096];
__device__ int filled[4096];
__global__ void kern(const float* x, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  const int slot = __float_as_uint(row[0]) % 4096u / 128 * 128 + blockIdx.x % 128;
  if (filled[slot] && first[slot] == row[0]) {
    y[blockIdx.x] = kept[slot];
    return;
  }
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += row[c];
  y[blockIdx.x] = kept[slot] = sum;
  first[slot] = row[0];
  filled[slot] = 1;
}
