// task: row_sum expect: wrong_result
// Right for the shapes that are shown only: wrong with --holdout.
// @launch kern<<<ceil_div(rows, 128), 128>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  int many = cols == 37 ? 37 : 200;
  if (cols != 37 && cols != 200) many = 1;
  for (int j = 0; j < many; j++) sum += x[r * cols + j];
  y[r] = sum;
}
