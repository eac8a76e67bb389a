// task: vector_add expect: ok|rejected|compile_error
// Performance events.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("pmevent 7;" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
