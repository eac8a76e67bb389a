// task: vector_add expect: rejected|compile_error
// One label in two places.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("again: add.u32 %0, %0, 0;" : "+r"(n));
  asm volatile("again: add.u32 %0, %0, 0;" : "+r"(n));
  if (i < n) out[i] = a[i] + b[i];
}
