// task: vector_add expect: runtime_fault|rejected|compile_error on-gpu: runtime_fault|ok|rejected|compile_error
// Constant memory that nobody declared.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned v;
  asm volatile("ld.const.u32 %0, [%1];" : "=r"(v) : "l"(0x100000ull));
  n += v == 123456789;
  if (i < n) out[i] = a[i] + b[i];
}
