// task: segmented_scan
// @launch kern<<<ceil_div(n, 128), 128>>>(x, flags, y, n)
__global__ void kern(const int* x, const int* flags, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int j = i, acc = x[i];
  while (j > 0 && i - j < 500 && flags[j] == 0) acc += x[--j];
  y[i] = acc;
}
