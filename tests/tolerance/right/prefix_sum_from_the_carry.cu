// task: prefix_sum
// @scratch sums float[256]
// @launch totals<<<8, 32>>>(x, sums, n)
// @launch scan<<<8, 32>>>(x, y, sums, n)
__global__ void totals(const float* x, float* sums, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, size = (n + 255) / 256;
  float acc = 0.0f;
  for (int j = min((t + 1) * size, n) - 1; j >= t * size; j--) acc += x[j];
  sums[t] = acc;
}
__global__ void scan(const float* x, float* y, const float* sums, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, size = (n + 255) / 256;
  float acc = 0.0f;
  for (int j = 0; j < t; j++) acc += sums[j];
  for (int j = t * size; j < min((t + 1) * size, n); j++) {
    acc += x[j];
    y[j] = acc;
  }
}
