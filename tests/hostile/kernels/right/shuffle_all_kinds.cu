// task: row_sum expect: ok
// shfl, shfl_up, shfl_down, shfl_xor, with widths below 32.
// @launch kern<<<ceil_div(rows, 4), 32>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 4 + threadIdx.x / 8, lane = threadIdx.x % 8;
  float sum = 0;
  if (r < rows)
    for (int c = lane; c < cols; c += 8) sum += x[r * cols + c];
  sum += __shfl_xor_sync(0xffffffffu, sum, 4, 8);
  sum += __shfl_down_sync(0xffffffffu, sum, 2, 8);
  const float up = __shfl_up_sync(0xffffffffu, sum, 1, 8);
  if (lane == 1) sum += up;
  const float total = __shfl_sync(0xffffffffu, sum, 1, 8);
  if (r < rows && lane == 0) y[r] = total;
}
