// task: vector_add expect: runtime_fault
// An index so large that 32-bit arithmetic of bytes would come back to the start.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const long long i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i + (1ll << 30)] + b[i + (1ll << 62)];
}
