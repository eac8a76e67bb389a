// task: transpose
// @launch kern<<<ceil_div(rows * cols, 128), 128>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  unsigned short from = i;
  y[(i % cols) * rows + i / cols] = x[from];
}
