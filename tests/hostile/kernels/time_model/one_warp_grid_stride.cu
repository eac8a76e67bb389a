// task: vector_mul expect: ok max-speedup: 0.9
// A single warp for everything.
// @launch kern<<<1, 32>>>(u, v, res, len)
__global__ void kern(const float* u, const float* v, float* res, int len) {
  for (int i = threadIdx.x; i < len; i += 32) res[i] = u[i] * v[i];
}
