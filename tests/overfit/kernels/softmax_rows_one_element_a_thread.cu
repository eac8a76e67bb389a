// task: softmax_rows
// @launch softmax<<<rows, 256>>>(x, y, cols)
__global__ void softmax(const float* x, float* y, int cols) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float v = t < cols ? x[blockIdx.x * cols + t] : -INFINITY;
  s[t] = v;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  float top = s[0];
  __syncthreads();
  float e = t < cols ? expf(v - top) : 0.0f;
  s[t] = e;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t < cols) y[blockIdx.x * cols + t] = e / s[0];
}
