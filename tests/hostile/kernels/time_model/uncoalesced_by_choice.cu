// task: scale expect: ok max-speedup: 0.9
// Threads of a warp touch addresses far apart: eight times the sectors of the naive kernel.
// @launch kern<<<ceil_div(n, 1024), 32>>>(x, y, alpha, n)
__global__ void kern(const float* x, float* y, float alpha, int n) {
  for (int k = 0; k < 32; ++k) {
    const int i = blockIdx.x * 1024 + threadIdx.x * 32 + k;
    if (i < n) y[i] = alpha * x[i];
  }
}
