// Adam, AdamW, SGD with momentum, LAMB's norms, gradient clipping.
__global__ void adamw(float* p, const float* g, float* m, float* v, int n, float lr, float b1, float b2, float eps, float wd, int step) {
  const float c1 = 1 - powf(b1, step), c2 = 1 - powf(b2, step);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float grad = g[i];
    m[i] = fmaf(b1, m[i], (1 - b1) * grad);
    v[i] = fmaf(b2, v[i], (1 - b2) * grad * grad);
    p[i] -= lr * (m[i] / c1 / (sqrtf(v[i] / c2) + eps) + wd * p[i]);
  }
}
__global__ void sgd_nesterov(float4* p, const float4* g, float4* buffer, int n4, float lr, float momentum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  float4 b = buffer[i], w = p[i];
  const float4 d = g[i];
#define STEP(k) b.k = momentum * b.k + d.k; w.k -= lr * (d.k + momentum * b.k);
  STEP(x) STEP(y) STEP(z) STEP(w)
#undef STEP
  buffer[i] = b;
  p[i] = w;
}
__global__ void norm_of_all(const float* g, double* total, int n) {
  double s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += (double)g[i] * g[i];
  for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
  if ((threadIdx.x & 31) == 0) atomicAdd(total, s);
}
__global__ void clip(float* g, const double* total, int n, float limit) {
  const float f = fminf(1.f, limit / ((float)sqrt(*total) + 1e-6f));
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && f < 1.f) g[i] *= f;
}
