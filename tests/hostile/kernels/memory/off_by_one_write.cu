// task: vector_add expect: runtime_fault
// i <= n in the place of i < n.
// @launch kern<<<ceil_div(n + 1, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i <= n) out[i] = i < n ? a[i] + b[i] : 0.0f;
}
