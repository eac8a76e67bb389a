// task: vector_add expect: ok|runtime_fault|rejected|compile_error
// A guard by a predicate that nobody set.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .pred p; @!p bra skip; skip:}" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
