// LSTM and GRU cells, fused gates; a selective scan of a state space model.
__device__ __forceinline__ float sigmoid(float x) { return 1.f / (1.f + __expf(-x)); }
__global__ void lstm_cell(const float* gates, const float* c, float* h_out, float* c_out, int hidden, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* g = gates + (size_t)(i / hidden) * 4 * hidden + i % hidden;
  const float in = sigmoid(g[0]), forget = sigmoid(g[hidden]), cell = tanhf(g[2 * hidden]), out = sigmoid(g[3 * hidden]);
  const float now = forget * c[i] + in * cell;
  c_out[i] = now;
  h_out[i] = out * tanhf(now);
}
__global__ void gru_cell(const float* gi, const float* gh, const float* h, float* out, int hidden) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
  if (j >= hidden) return;
  const float *p = gi + (size_t)b * 3 * hidden, *q = gh + (size_t)b * 3 * hidden;
  const float r = sigmoid(p[j] + q[j]), z = sigmoid(p[hidden + j] + q[hidden + j]), n = tanhf(p[2 * hidden + j] + r * q[2 * hidden + j]);
  out[b * hidden + j] = (1 - z) * n + z * h[b * hidden + j];
}
template <int STATE> __global__ void selective_scan(const float* u, const float* delta, const float* a, const float* b, const float* c, float* y, int length, int dim) {
  const int d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d >= dim) return;
  float h[STATE] = {}, decay[STATE];
  for (int s = 0; s < STATE; ++s) decay[s] = a[d * STATE + s] * 1.442695f;
  for (int t = 0; t < length; ++t) {
    const float dt = log1pf(__expf(delta[t * dim + d])), x = u[t * dim + d] * dt;
    float sum = 0;
#pragma unroll
    for (int s = 0; s < STATE; ++s) {
      h[s] = exp2f(decay[s] * dt) * h[s] + x * __ldg(b + t * STATE + s);
      sum = fmaf(h[s], __ldg(c + t * STATE + s), sum);
    }
    y[t * dim + d] = sum;
  }
}
template __global__ void selective_scan<16>(const float*, const float*, const float*, const float*, const float*, float*, int, int);
