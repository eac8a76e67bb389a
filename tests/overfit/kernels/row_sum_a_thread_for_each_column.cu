// task: row_sum
// @launch sum<<<rows, 256>>>(x, y, cols)
__global__ void sum(const float* x, float* y, int cols) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = t < cols ? x[blockIdx.x * cols + t] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
