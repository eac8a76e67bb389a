// task: gather_rows
// @launch gather<<<ceil_div(cols, 32), 32>>>(x, order, y, rows, cols)
__global__ void gather(const float* x, const int* order, float* y, int rows, int cols) {
  __shared__ int from[120];
  for (int r = threadIdx.x; r < rows; r += 32) from[r] = order[r];
  __syncthreads();
  int c = blockIdx.x * 32 + threadIdx.x;
  if (c >= cols) return;
  for (int r = 0; r < rows; r++) y[r * cols + c] = x[from[r] * cols + c];
}
