// task: segmented_scan
// @launch scan<<<94, 128>>>(x, flags, y, n)
__global__ void scan(const int* x, const int* flags, int* y, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  int sum = x[i];
  for (int j = i; j > 0 && flags[j] == 0; j--) sum += x[j - 1];
  y[i] = sum;
}
