// task: row_sum
// @launch clear<<<ceil_div(rows, 128), 128>>>(y, rows)
// @launch add<<<ceil_div(rows * cols, 128), 128>>>(x, y, rows, cols)
__global__ void clear(float* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) y[r] = 0.0f;
}
__global__ void add(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) atomicAdd(&y[i / cols], x[i]);
}
