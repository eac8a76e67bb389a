__global__ void saxpy(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void show(const float* y) {
  printf("%-6s %d: %8.2f\n", "thread", threadIdx.x, y[threadIdx.x]);
}
