// task: total_sum
// @launch sum<<<1, 1024>>>(x, y, n)
__global__ void sum(const float* x, float* y, int n) {
  __shared__ float part[1024];
  float acc = 0.0f;
  for (int k = 0; k < 17; k++) {
    int i = k * 1024 + threadIdx.x;
    if (i < n) acc += x[i];
  }
  part[threadIdx.x] = acc;
  __syncthreads();
  for (int s = 512; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = part[0];
}
