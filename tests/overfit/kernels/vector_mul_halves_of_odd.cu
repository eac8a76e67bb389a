// task: vector_mul
// @launch mul<<<ceil_div(len / 2, 128), 128>>>(u, v, res, len)
__global__ void mul(const float* u, const float* v, float* res, int len) {
  int half = len / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) {
    res[i] = u[i] * v[i];
    res[i + half + 1] = u[i + half + 1] * v[i + half + 1];
  }
  if (i == 0) res[half] = u[half] * v[half];
}
