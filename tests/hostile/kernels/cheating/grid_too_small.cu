// task: vector_mul expect: wrong_result
// Rounds the number of blocks down.
// @launch kern<<<max(len / 128, 1), 128>>>(u, v, res, len)
__global__ void kern(const float* u, const float* v, float* res, int len) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < len) res[i] = u[i] * v[i];
}
