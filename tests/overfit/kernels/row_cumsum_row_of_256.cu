// task: row_cumsum
// @launch scan<<<rows, 256>>>(x, y, cols)
__global__ void scan(const float* x, float* y, int cols) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = t < cols ? x[blockIdx.x * cols + t] : 0.0f;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    float before = t >= step ? s[t - step] : 0.0f;
    __syncthreads();
    s[t] += before;
    __syncthreads();
  }
  if (t < cols) y[blockIdx.x * cols + t] = s[t];
}
