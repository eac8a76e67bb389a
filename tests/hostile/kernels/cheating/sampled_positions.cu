// task: vector_mul expect: wrong_result
// Writes every element but one in a thousand.
// @launch kern<<<ceil_div(len, 128), 128>>>(u, v, res, len)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 1000 != 999) out[i] = a[i] * b[i];
}
