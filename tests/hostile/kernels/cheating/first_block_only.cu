// task: vector_mul expect: wrong_result
// All blocks but the first leave their part alone.
// @launch kern<<<ceil_div(len, 128), 128>>>(u, v, res, len)
__global__ void kern(const float* u, const float* v, float* res, int len) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < len && blockIdx.x < 1) res[i] = u[i] * v[i];
}
