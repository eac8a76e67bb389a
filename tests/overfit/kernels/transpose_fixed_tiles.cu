// task: transpose
// @launch turn<<<dim3(5, 4), dim3(32, 32)>>>(x, y, rows, cols)
__global__ void turn(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  if (r < rows && c < cols) tile[threadIdx.y][threadIdx.x] = x[r * cols + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x;
  r = blockIdx.x * 32 + threadIdx.y;
  if (c < rows && r < cols) y[r * rows + c] = tile[threadIdx.x][threadIdx.y];
}
