// task: masked_fill
// @launch fill<<<33, 512>>>(x, mask, y, value, n)
__global__ void fill(const float* x, const int* mask, float* y, float value, int n) {
  int i = threadIdx.x + blockIdx.x * 512;
  if (i >= n) return;
  y[i] = mask[i] ? value : x[i];
}
