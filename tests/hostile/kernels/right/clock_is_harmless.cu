// task: vector_add expect: ok
// clock64 and %globaltimer are read, but nothing depends on them.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const long long begin = clock64();
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  if (i < n) out[i] = a[i] + b[i];
  if (clock64() < begin && nanoseconds == 0) out[0] = 0;
}
