// task: transpose expect: ok
// A tile without padding whose columns are swizzled by the row.
// @launch kern<<<dim3(ceil_div(cols, 16), ceil_div(rows, 16)), dim3(16, 16)>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[256];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int c = blockIdx.x * 16 + tx, r = blockIdx.y * 16 + ty;
  tile[ty * 16 + (tx ^ ty)] = r < rows && c < cols ? x[r * cols + c] : 0;
  __syncthreads();
  const int to_c = blockIdx.y * 16 + tx, to_r = blockIdx.x * 16 + ty;
  if (to_r < cols && to_c < rows) y[to_r * rows + to_c] = tile[tx * 16 + (ty ^ tx)];
}
