// task: vector_mul expect: wrong_result
// i < len - 1.
// @launch kern<<<ceil_div(len, 128), 128>>>(u, v, res, len)
__global__ void kern(const float* u, const float* v, float* res, int len) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < len - 1) res[i] = u[i] * v[i];
}
