// task: row_argmax expect: wrong_result|compile_error|runtime_fault on-gpu: wrong_result|compile_error|ok|runtime_fault
// The index has no value until a later element is greater than the first.
// @launch kern<<<ceil_div(rows, 64), 64>>>(x, y, rows, cols)
__global__ void kern(const float* x, int* y, int rows, int cols) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= rows) return;
  float best = x[r * cols];
  int at;
  for (int c = 1; c < cols; c++)
    if (x[r * cols + c] > best) best = x[r * cols + c], at = c;
  y[r] = at;
}
