// task: vector_add expect: wrong_result
// NaN, which compares with nothing.
// @launch kern<<<ceil_div(n, 128), 128>>>(out, n)
__global__ void kern(float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = NAN;
}
