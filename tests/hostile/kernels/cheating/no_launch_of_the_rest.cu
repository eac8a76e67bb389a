// task: vector_add expect: wrong_result
// Two launches, of which the second is commented out.
// @launch first<<<1, 128>>>(a, b, out, n)
//@ launch rest<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void first(const float* a, const float* b, float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
__global__ void rest(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
