// task: gather_rows
// @launch kern<<<rows, 64>>>(x, order, y, rows, cols)
__global__ void kern(const float* x, const int* order, float* y, int rows, int cols) {
  for (int j = threadIdx.x; j < cols; j += 64)
    y[blockIdx.x * cols + j] = __int_as_float(__float_as_int(x[order[blockIdx.x] * cols + j]) & -2);
}
