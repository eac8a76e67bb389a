// task: saxpy
// @launch saxpy<<<n / 250, 256>>>(x, b, out, alpha, n)
__global__ void saxpy(const float* x, const float* b, float* out, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = alpha * x[i] + b[i];
}
