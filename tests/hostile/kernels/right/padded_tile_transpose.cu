// task: transpose expect: ok
// The classic tile of 32 x 33 with 8 rows of threads.
// @launch kern<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(x, y, rows, cols)
__global__ void kern(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (r + k < rows && c < cols) tile[threadIdx.y + k][threadIdx.x] = x[(r + k) * cols + c];
  __syncthreads();
  r = blockIdx.y * 32 + threadIdx.x;
  c = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (r < rows && c + k < cols) y[(c + k) * rows + r] = tile[threadIdx.x][threadIdx.y + k];
}
