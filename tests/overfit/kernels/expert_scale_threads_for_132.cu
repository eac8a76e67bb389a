// task: expert_scale
// @launch scale<<<tokens, 160>>>(x, route, w, y, dim, experts)
__global__ void scale(const float* x, const float* route, const float* w, float* y, int dim, int experts) {
  int t = blockIdx.x, j = threadIdx.x;
  int e = 0;
  for (int k = 0; k < experts; k++) {
    if (route[t * experts + k] != 0.0f) e = k;
  }
  if (j < dim) y[t * dim + j] = x[t * dim + j] * (1.0f + w[e * dim + j]);
}
