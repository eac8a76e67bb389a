// task: transpose expect: wrong_result|runtime_fault
// Right for square matrices.
// @launch kern<<<ceil_div(rows * cols, 128), 128>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < rows * cols) y[i] = x[i % cols * cols + i / cols];
}
