// task: vector_add expect: ok|rejected|compile_error
// Special registers that a driver may set.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned v, w;
  asm volatile("mov.b32 %0, %%envreg3; mov.u32 %1, %%dynamic_smem_size;" : "=r"(v), "=r"(w));
  n += w == 123456789;
  if (i < n) out[i] = a[i] + b[i];
}
