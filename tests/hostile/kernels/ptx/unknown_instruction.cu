// task: vector_add expect: rejected|compile_error
// An instruction that does not exist.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("frobnicate.f32 %%f1, %%f2;" : "+r"(n));
  if (i < n) out[i] = a[i] + b[i];
}
