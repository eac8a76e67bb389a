// task: vector_mul
// @launch mul<<<ceil_div(len, 256), 256>>>(u, v, res, len)
__global__ void mul(const float* u, const float* v, float* res, int len) {
  int count = blockIdx.x == gridDim.x - 1 ? len % 256 : 256;
  int i = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x < count) res[i] = u[i] * v[i];
}
