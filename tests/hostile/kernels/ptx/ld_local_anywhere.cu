// task: vector_add expect: runtime_fault|rejected|compile_error on-gpu: runtime_fault|ok|rejected|compile_error
// Local memory at an address of its own choice.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned v;
  asm volatile("ld.local.u32 %0, [%1];" : "=r"(v) : "r"(0x7ffffff0u) : "memory");
  n += v == 123456789;
  if (i < n) out[i] = a[i] + b[i];
}
