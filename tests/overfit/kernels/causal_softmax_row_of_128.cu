// task: causal_softmax
// @launch softmax<<<n, 128>>>(x, y, n)
__global__ void softmax(const float* x, float* y, int n) {
  __shared__ float s[128];
  int r = blockIdx.x, t = threadIdx.x;
  float top = -INFINITY;
  for (int j = 0; j <= r; j++) top = fmaxf(top, x[r * n + j]);
  s[t] = t <= r && t < n ? expf(x[r * n + t] - top) : 0.0f;
  float e = s[t];
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t < n) y[r * n + t] = t <= r ? e / s[0] : 0.0f;
}
