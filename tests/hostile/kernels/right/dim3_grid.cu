// task: stencil_2d expect: ok
// Three dimensions of blocks and threads, one of them 1 and one of them the sign of nothing.
// @launch kern<<<dim3(ceil_div(cols, 8), ceil_div(rows, 4), 1), dim3(8, 4, 2)>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  __shared__ float part[2][4][8];
  const int c = blockIdx.x * 8 + threadIdx.x, r = blockIdx.y * 4 + threadIdx.y;
  const bool inside = r < rows && c < cols;
  const int i = r * cols + c;
  float v = 0;
  if (inside) {
    if (threadIdx.z == 0) v = (r > 0 ? x[i - cols] : 0.f) + (r < rows - 1 ? x[i + cols] : 0.f) - 4.f * x[i];
    else v = (c > 0 ? x[i - 1] : 0.f) + (c < cols - 1 ? x[i + 1] : 0.f);
  }
  part[threadIdx.z][threadIdx.y][threadIdx.x] = v;
  __syncthreads();
  if (inside && threadIdx.z == 0) y[i] = part[0][threadIdx.y][threadIdx.x] + part[1][threadIdx.y][threadIdx.x];
}
