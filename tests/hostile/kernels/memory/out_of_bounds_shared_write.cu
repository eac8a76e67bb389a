// task: transpose expect: runtime_fault on-gpu: ok|runtime_fault|wrong_result
// The last row of a tile lies behind the shared memory of the block.
// @launch kern<<<dim3(ceil_div(cols, 16), ceil_div(rows, 16)), dim3(16, 16)>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[16 * 16];
  const int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y * 17 + threadIdx.x] = r < rows && c < cols ? x[r * cols + c] : 0;
  __syncthreads();
  const int to_c = blockIdx.y * 16 + threadIdx.x, to_r = blockIdx.x * 16 + threadIdx.y;
  if (to_r < cols && to_c < rows) y[to_r * rows + to_c] = tile[threadIdx.x * 17 + threadIdx.y];
}
