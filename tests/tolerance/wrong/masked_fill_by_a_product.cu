// task: masked_fill
// @launch kern<<<ceil_div(n, 128), 128>>>(x, mask, y, value, n)
__global__ void kern(const float* x, const int* mask, float* y, float value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = mask[i] * value + (1 - mask[i]) * x[i];
}
