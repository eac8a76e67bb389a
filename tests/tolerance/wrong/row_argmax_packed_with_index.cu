// task: row_argmax
// The bits of -0 are less than those of 0, so that the first of two zeros is passed by.
// @launch kern<<<ceil_div(rows, 4), dim3(32, 4)>>>(x, y, rows, cols)
__device__ unsigned in_order(float v) {
  const unsigned bits = __float_as_uint(v);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

__global__ void kern(const float* x, int* y, int rows, int cols) {
  const int r = blockIdx.x * 4 + threadIdx.y;
  if (r >= rows) return;
  unsigned long long best = 0;
  for (unsigned c = threadIdx.x; c < cols; c += 32) {
    const unsigned long long key = (unsigned long long)in_order(x[(long)r * cols + c]) << 32 | ~c;
    best = max(best, key);
  }
  for (int step = 16; step > 0; step /= 2) best = max(best, __shfl_xor_sync(~0u, best, step));
  if (threadIdx.x == 0) y[r] = (int)~(unsigned)best;
}
