// task: vector_add expect: runtime_fault|rejected|compile_error on-gpu: runtime_fault|rejected|compile_error|ok
// A barrier that no block has, its number computed at run time.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("bar.sync %0;" :: "r"(16 + (n & 15)) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
