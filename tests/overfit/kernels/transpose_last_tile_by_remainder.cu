// task: transpose
// @launch turn<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 32)>>>(x, y, rows, cols)
__global__ void turn(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  int wide = blockIdx.x == gridDim.x - 1 ? cols % 32 : 32;
  int high = blockIdx.y == gridDim.y - 1 ? rows % 32 : 32;
  if (threadIdx.x < wide && threadIdx.y < high) tile[threadIdx.y][threadIdx.x] = x[r * cols + c];
  __syncthreads();
  int to_c = blockIdx.y * 32 + threadIdx.x, to_r = blockIdx.x * 32 + threadIdx.y;
  if (to_c < rows && to_r < cols) y[to_r * rows + to_c] = tile[threadIdx.x][threadIdx.y];
}
