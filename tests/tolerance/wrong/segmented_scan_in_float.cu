// task: segmented_scan
// A float adds up: beyond 2^24 it is rounded.
// @launch scan<<<ceil_div(n, 96), 96>>>(x, flags, y, n)
__global__ void scan(const int* x, const int* flags, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = x[i];
  for (int j = i; j > 0 && flags[j] == 0; j--) sum += x[j - 1];
  y[i] = static_cast<int>(sum);
}
