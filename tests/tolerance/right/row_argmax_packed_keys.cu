// task: row_argmax
// @launch kern<<<rows, 32>>>(x, y, rows, cols)
// The greatest key has the greatest value, and of equal values the smallest index.
__global__ void kern(const float* x, int* y, int rows, int cols) {
  unsigned long long best = 0;
  for (int j = threadIdx.x; j < cols; j += 32) {
    unsigned bits = __float_as_uint(x[blockIdx.x * cols + j] + 0.0f);
    bits = bits >> 31 ? ~bits : bits | 0x80000000u;
    unsigned long long key = (unsigned long long)bits << 32 | (unsigned)~j;
    if (key > best) best = key;
  }
  for (int step = 16; step > 0; step /= 2) {
    unsigned long long other = __shfl_xor_sync(0xffffffffu, best, step);
    if (other > best) best = other;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = (int)~(unsigned)best;
}
