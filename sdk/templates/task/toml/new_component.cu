// @launch kern<<<ceil_div(n, 256), 256>>>(x, a, b, y, n)
__global__ void kern(const float* __restrict__ x, float a, float b, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaf(a, x[i], b);
}
