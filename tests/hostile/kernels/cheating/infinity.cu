// task: vector_add expect: wrong_result
// Infinity in one place.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = i == 511 ? INFINITY : a[i] + b[i];
}
