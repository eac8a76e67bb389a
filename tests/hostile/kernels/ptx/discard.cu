// task: vector_add expect: runtime_fault|wrong_result|rejected|compile_error|ok
// discard.global.L2 of an output line after it was written: its values may be anything.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
  if (i == 0) asm volatile("discard.global.L2 [%0], 128;" :: "l"(out) : "memory");
}
