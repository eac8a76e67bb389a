// task: transpose expect: runtime_fault on-gpu: ok|timeout|runtime_fault|wrong_result|nondeterministic
// A barrier inside of the bounds check of a tile.
// @launch kern<<<dim3(ceil_div(cols, 16), ceil_div(rows, 16)), dim3(16, 16)>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[16][17];
  const int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < rows && c < cols) {
    tile[threadIdx.y][threadIdx.x] = x[r * cols + c];
    __syncthreads();
  }
  const int to_c = blockIdx.y * 16 + threadIdx.x, to_r = blockIdx.x * 16 + threadIdx.y;
  if (to_r < cols && to_c < rows) y[to_r * rows + to_c] = tile[threadIdx.x][threadIdx.y];
}
