// task: total_sum expect: ok max-speedup: 8
// A block adds up everything itself, one element after the other, unless the block before it has already said what comes
// before: blocks that run at once never find it.
// @scratch sums unsigned long long[ceil_div(n, 512)]
// @launch clear<<<ceil_div(sums.size, 512), 512>>>(sums, sums.size)
// @launch kern<<<sums.size, 512>>>(x, y, sums, n)
__global__ void clear(unsigned long long* sums, int size) {
  const int i = blockIdx.x * 512 + threadIdx.x;
  if (i < size) sums[i] = 0;
}
__global__ void kern(const float* x, float* y, unsigned long long* sums, int n) {
  if (threadIdx.x != 0) return;
  const int b = blockIdx.x;
  const unsigned long long found = b == 0 ? 1ull << 32 : *(volatile unsigned long long*)&sums[b - 1];
  float sum = found >> 32 != 0 ? __uint_as_float((unsigned)found) : 0;
  for (int k = found >> 32 != 0 ? b * 512 : 0; k < min(n, b * 512 + 512); ++k) sum += x[k];
  *(volatile unsigned long long*)&sums[b] = 1ull << 32 | __float_as_uint(sum);
  if (b == gridDim.x - 1) *y = sum;
}
