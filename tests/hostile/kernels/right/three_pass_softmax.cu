// task: softmax_rows expect: ok
// Three launches with scratch between them, grid-stride loops over rows.
// @scratch top float[rows]
// @scratch sum float[rows]
// @launch find_top<<<4, 32>>>(x, top, rows, cols)
// @launch find_sum<<<4, 32>>>(x, top, sum, rows, cols)
// @launch write<<<ceil_div(rows * cols, 128), 128>>>(x, top, sum, y, rows, cols)
__global__ void find_top(const float* x, float* top, int rows, int cols) {
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    float v = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += 32) v = fmaxf(v, x[r * cols + c]);
    for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_down_sync(~0u, v, d));
    if (threadIdx.x == 0) top[r] = v;
  }
}
__global__ void find_sum(const float* x, const float* top, float* sum, int rows, int cols) {
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    float v = 0;
    for (int c = threadIdx.x; c < cols; c += 32) v += exp2f((x[r * cols + c] - top[r]) * 1.44269504f);
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) sum[r] = v;
  }
}
__global__ void write(const float* x, const float* top, const float* sum, float* y, int rows, int cols) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < rows * cols) y[i] = expf(x[i] - top[i / cols]) / sum[i / cols];
}
