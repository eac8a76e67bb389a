// task: row_sum expect: wrong_result|compile_error|runtime_fault on-gpu: wrong_result|compile_error|ok
// Sums in registers that begin as whatever is there.
// @launch kern<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= rows) return;
  float even, odd;
  for (int c = 0; c < cols; c += 2) {
    even += x[r * cols + c];
    if (c + 1 < cols) odd += x[r * cols + c + 1];
  }
  y[r] = even + odd;
}
