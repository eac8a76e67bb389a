// task: transpose expect: runtime_fault on-gpu: wrong_result|nondeterministic|ok
// @launch kern<<<dim3(ceil_div(cols, 16), ceil_div(rows, 16)), dim3(16, 16)>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[16][17];
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < rows && c < cols) tile[threadIdx.y][threadIdx.x] = x[r * cols + c];
  int tr = blockIdx.y * 16 + threadIdx.x, tc = blockIdx.x * 16 + threadIdx.y;
  if (tr < rows && tc < cols) y[tc * rows + tr] = tile[threadIdx.x][threadIdx.y];
}
