// task: row_argmax
// @launch arg<<<rows, 128>>>(x, y, cols)
__global__ void arg(const float* x, int* y, int cols) {
  __shared__ float v[128];
  __shared__ int at[128];
  int t = threadIdx.x;
  const float* row = x + blockIdx.x * cols;
  float best = -INFINITY;
  int where = 0;
  if (t < cols) { best = row[t]; where = t; }
  if (t + 128 < cols && row[t + 128] > best) { best = row[t + 128]; where = t + 128; }
  v[t] = best;
  at[t] = where;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d && (v[t + d] > v[t] || (v[t + d] == v[t] && at[t + d] < at[t]))) {
      v[t] = v[t + d];
      at[t] = at[t + d];
    }
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = at[0];
}
