// task: gather_rows
// @launch gather<<<rows, 132>>>(x, order, y, cols)
__global__ void gather(const float* x, const int* order, float* y, int cols) {
  int r = blockIdx.x, c = threadIdx.x;
  if (c < cols) y[r * cols + c] = x[order[r] * cols + c];
}
