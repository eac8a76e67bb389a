// task: vector_add expect: ok
// activemask by asm within nested branches.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned mask = 0;
  if (i % 2) {
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    if (i % 3) asm volatile("activemask.b32 %0;" : "=r"(mask));
  }
  n += mask == 0 && i % 2 == 1;
  if (i < n) out[i] = a[i] + b[i];
}
