// task: masked_fill
// @launch fill<<<ceil_div(n, 512), 256>>>(x, mask, y, value, n)
__global__ void fill(const float* x, const int* mask, float* y, float value, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i > n - 1) return;
  y[i] = mask[i] != 0 ? value : x[i];
  if (i + 2 < n) y[i + 1] = mask[i + 1] != 0 ? value : x[i + 1];
}
