// task: vector_add expect: ok
// Neighbouring blocks overlap: both store the same sums there.
// @launch kern<<<ceil_div(n, 56), 64>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = (int)(blockIdx.x * 56 + threadIdx.x) - 4;
  if (i >= 0 && i < n) out[i] = a[i] + b[i];
}
