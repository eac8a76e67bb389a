// task: prefix_sum expect: ok max-speedup: 15
// A chain of blocks of one warp: value and flag are one word, and a hand-over takes the latency of L2 each time.
// @scratch words unsigned long long[ceil_div(n, 32)]
// @launch clear<<<ceil_div(words.size, 128), 128>>>(words, words.size)
// @launch kern<<<words.size, 32>>>(x, y, words, n)
__global__ void clear(unsigned long long* words, int size) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < size) words[i] = 0;
}
__global__ void kern(const float* x, float* y, unsigned long long* words, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  float sum = i < n ? x[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const float left = __shfl_up_sync(~0u, sum, d);
    if (threadIdx.x >= d) sum += left;
  }
  float before = 0;
  if (blockIdx.x > 0) {
    unsigned long long word;
    do asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(words + blockIdx.x - 1) : "memory");
    while (word == 0);
    before = __uint_as_float((unsigned)word);
  }
  if (threadIdx.x == 31) {
    const unsigned long long word = 1ull << 32 | __float_as_uint(before + sum);
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(words + blockIdx.x), "l"(word) : "memory");
  }
  if (i < n) y[i] = before + sum;
}
