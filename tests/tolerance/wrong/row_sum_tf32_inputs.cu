// task: row_sum
// @launch rows_of<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
__device__ float rounded(float v) {  // to tf32, nearest
  return __uint_as_float((__float_as_uint(v) + 0x1000) & 0xffffe000u);
}
__global__ void rows_of(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + r * cols;
  float acc = 0.0f;
  for (int j = 0; j < cols; j++) acc += rounded(row[j]);
  y[r] = acc;
}
