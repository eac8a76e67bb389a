// task: vector_add expect: launch_error
// A block of a negative size.
// @launch kern<<<ceil_div(n, 128), 128 - n>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
