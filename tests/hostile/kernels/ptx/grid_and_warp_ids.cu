// task: vector_add expect: ok|rejected
// %smid, %nsmid, %warpid, %gridid: numbers without a promise.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned v, w, x;
  unsigned long long y;
  asm volatile("mov.u32 %0, %%smid; mov.u32 %1, %%nsmid; mov.u32 %2, %%warpid; mov.u64 %3, %%gridid;" : "=r"(v), "=r"(w), "=r"(x), "=l"(y));
  n += v > w;
  if (i < n) out[i] = a[i] + b[i];
}
