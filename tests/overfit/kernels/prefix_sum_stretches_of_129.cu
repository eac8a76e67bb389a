// task: prefix_sum
// @launch scan<<<1, 128>>>(x, y, n)
__global__ void scan(const float* x, float* y, int n) {
  __shared__ float total[128];
  int size = (n + 128) / 129;
  int first = threadIdx.x * size;
  float acc = 0.0f;
  for (int j = 0; j < size; j++) {
    if (first + j < n) acc += x[first + j];
  }
  total[threadIdx.x] = acc;
  __syncthreads();
  float before = 0.0f;
  for (int t = 0; t < threadIdx.x; t++) before += total[t];
  for (int j = 0; j < size; j++) {
    if (first + j < n) {
      before += x[first + j];
      y[first + j] = before;
    }
  }
}
