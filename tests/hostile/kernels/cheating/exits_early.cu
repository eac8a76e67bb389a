// task: vector_add expect: wrong_result
// asm("exit;") before anything is done.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x % 32 == 31) asm volatile("exit;");
  if (i < n) out[i] = a[i] + b[i];
}
