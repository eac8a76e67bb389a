// task: expert_scale expect: ok
// A __device__ array with initial values, a pointer to it, and a reference.
// @launch kern<<<tokens, 64>>>(x, route, w, y, dim, experts)
__device__ int kOrder[6] = {5, 4, 3, 2, 1, 0};
__device__ int* const kFirst = kOrder;
__global__ void kern(const float* x, const float* route, const float* w, float* y, int dim, int experts) {
  const int t = blockIdx.x;
  int e = 0;
  for (int k = 0; k < experts; ++k) {
    const int& candidate = kFirst[k];
    if (route[t * experts + candidate] != 0.0f) e = candidate;
  }
  for (int c = threadIdx.x; c < dim; c += 64) y[t * dim + c] = x[t * dim + c] * (1.0f + w[e * dim + c]);
}
