// task: scale
// @launch scale<<<17, 256>>>(x, y, alpha, n)
__global__ void scale(const float* x, float* y, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int pass = 0; pass < 4; pass++) {
    if (i < n) y[i] = alpha * x[i];
    i += gridDim.x * blockDim.x;
  }
}
