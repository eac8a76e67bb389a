// task: vector_mul
// @launch kern<<<128, 256>>>(u, v, res, len)
__global__ void kern(const float* u, const float* v, float* res, int len) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < len) res[i] = u[i] * v[i];
}
