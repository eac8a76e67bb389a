// task: gather_rows expect: ok
// Pointers kept in shared memory and in a local array.
// @launch kern<<<ceil_div(rows, 4), 128>>>(x, order, y, rows, cols)
__global__ void kern(const float* x, const int* order, float* y, int rows, int cols) {
  __shared__ const float* from[4];
  if (threadIdx.x < 4) {
    const int r = blockIdx.x * 4 + threadIdx.x;
    from[threadIdx.x] = r < rows ? x + order[r] * cols : nullptr;
  }
  __syncthreads();
  const float* rows_of[4] = {from[0], from[1], from[2], from[3]};
  for (int k = 0; k < 4; ++k)
    if (rows_of[k])
      for (int c = threadIdx.x; c < cols; c += 128) y[(blockIdx.x * 4 + k) * cols + c] = rows_of[k][c];
}
