// Smooth L1, Huber, KL divergence, binary cross entropy, hinge and cosine losses.
__global__ void elementwise_losses(const float* p, const float* t, float* out, int n, int kind, float beta) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = p[i], b = t[i], d = fabsf(a - b);
  float v = 0;
  switch (kind) {
    case 0: v = d * d; break;
    case 1: v = d; break;
    case 2: v = d < beta ? 0.5f * d * d / beta : d - 0.5f * beta; break;
    case 3: v = b > 0 ? b * (logf(b) - a) : 0; break;
    case 4: v = fmaxf(a, 0.f) - a * b + log1pf(expf(-fabsf(a))); break;
    case 5: v = fmaxf(0.f, 1 - a * b); break;
    case 6: v = log10f(1 + d) + cbrtf(d) + hypotf(a, b); break;
  }
  out[i] = v;
}
__global__ void cosine_similarity(const float* a, const float* b, float* out, int cols) {
  float ab = 0, aa = 0, bb = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float x = a[blockIdx.x * cols + c], y = b[blockIdx.x * cols + c];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  for (int o = 16; o; o >>= 1) ab += __shfl_down_sync(~0u, ab, o), aa += __shfl_down_sync(~0u, aa, o), bb += __shfl_down_sync(~0u, bb, o);
  if (threadIdx.x == 0) out[blockIdx.x] = ab / fmaxf(sqrtf(aa) * sqrtf(bb), 1e-8f);
}
