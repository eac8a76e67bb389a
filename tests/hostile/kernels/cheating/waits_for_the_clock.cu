// task: vector_add expect: timeout|ok|rejected on-gpu: timeout|ok|flagged
// Waits for an hour by %globaltimer.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ unsigned long long now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const unsigned long long begin = now();
  while (now() - begin < 3600ull * 1000000000ull) {}
  if (i < n) out[i] = a[i] + b[i];
}
