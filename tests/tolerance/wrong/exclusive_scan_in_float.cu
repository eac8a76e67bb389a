// task: exclusive_scan
// The sums of the parts are floats: beyond 2^24 they are rounded.
// @scratch part float[ceil_div(n, 256)]
// @launch add_up<<<ceil_div(part.size, 64), 64>>>(counts, part, n)
// @launch scan<<<ceil_div(part.size, 64), 64>>>(counts, part, offsets, n)
__global__ void add_up(const int* counts, float* part, int n) {
  int first = 256 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (first >= n) return;
  float sum = 0;
  for (int j = first; j < min(n, first + 256); j++) sum += counts[j];
  part[first / 256] = sum;
}
__global__ void scan(const int* counts, const float* part, int* offsets, int n) {
  int first = 256 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (first >= n) return;
  float before = 0;
  for (int p = 0; p < first / 256; p++) before += part[p];
  int sum = static_cast<int>(before);
  for (int j = first; j < min(n, first + 256); j++) {
    offsets[j] = sum;
    sum += counts[j];
  }
}
