// task: softmax_rows
// @launch rows_of<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
#include <cuda_fp16.h>
__device__ float rounded(float v) { return __half2float(__float2half(v)); }
__global__ void rows_of(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + r * cols;
  float m = -INFINITY, sum = 0.0f;
  for (int j = 0; j < cols; j++) m = fmaxf(m, row[j]);
  for (int j = 0; j < cols; j++) sum = rounded(sum + expf(row[j] - m));
  for (int j = 0; j < cols; j++) y[r * cols + j] = expf(row[j] - m) / sum;
}
