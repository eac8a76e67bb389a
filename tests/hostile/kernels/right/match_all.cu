// task: row_sum expect: ok
// __match_all_sync tells that a warp works on one row only.
// @launch kern<<<ceil_div(rows * 16, 64), 64>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  const int r = (blockIdx.x * 64 + threadIdx.x) / 16, lane = threadIdx.x % 16;
  int one_row;
  __match_all_sync(0xffffffffu, r, &one_row);
  const unsigned same = __match_any_sync(0xffffffffu, r);
  float sum = 0;
  if (r < rows)
    for (int c = lane; c < cols; c += 16) sum += x[r * cols + c];
  for (int d = 8; d > 0; d /= 2) sum += __shfl_down_sync(same, sum, d, 16);
  if (r < rows && lane == 0 && !one_row) y[r] = sum;
}
