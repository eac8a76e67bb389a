// task: vector_add expect: runtime_fault|rejected|compile_error
// A line of a file that nobody declared.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile(".loc 4000000000 3 1" ::: "memory");
  if (i == n) *(volatile float*)8 = 1;
  if (i < n) out[i] = a[i] + b[i];
}
