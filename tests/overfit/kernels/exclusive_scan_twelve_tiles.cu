// task: exclusive_scan
// @scratch sums int[12]
// @launch add_up<<<12, 32>>>(counts, sums, n)
// @launch scan<<<12, 1>>>(counts, sums, offsets, n)
__global__ void add_up(const int* counts, int* sums, int n) {
  int sum = 0;
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < min(n, (blockIdx.x + 1) * 1024); i += 32) sum += counts[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
__global__ void scan(const int* counts, const int* sums, int* offsets, int n) {
  int at = 0;
  for (int b = 0; b < blockIdx.x; b++) at += sums[b];
  for (int i = blockIdx.x * 1024; i < min(n, (blockIdx.x + 1) * 1024); i++) {
    offsets[i] = at;
    at += counts[i];
  }
}
