// task: prefix_sum
// @launch scan<<<1, 256>>>(x, y, n)
__global__ void scan(const float* x, float* y, int n) {
  __shared__ float total[256];
  int first = threadIdx.x * 47;
  float own[47];
  float acc = 0.0f;
  for (int j = 0; j < 47; j++) {
    acc += first + j < n ? x[first + j] : 0.0f;
    own[j] = acc;
  }
  total[threadIdx.x] = acc;
  __syncthreads();
  float before = 0.0f;
  for (int t = 0; t < threadIdx.x; t++) before += total[t];
  for (int j = 0; j < 47; j++) {
    if (first + j < n) y[first + j] = before + own[j];
  }
}
