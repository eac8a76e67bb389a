// Batch statistics by Welford, a block a channel, running averages updated.
struct Welford { float mean, m2; int n; };
__device__ Welford join(Welford a, Welford b) {
  if (b.n == 0) return a;
  const int n = a.n + b.n;
  const float d = b.mean - a.mean;
  return {a.mean + d * b.n / n, a.m2 + b.m2 + d * d * ((float)a.n * b.n / n), n};
}
__global__ void batchnorm_training(const float* x, float* y, float* running_mean, float* running_var, int batch, int channels, int spatial, float momentum) {
  __shared__ Welford part[32];
  const int c = blockIdx.x;
  Welford w{0, 0, 0};
  for (int n = 0; n < batch; ++n)
    for (int i = threadIdx.x; i < spatial; i += blockDim.x) {
      const float v = x[((size_t)n * channels + c) * spatial + i], d = v - w.mean;
      w.mean += d / ++w.n;
      w.m2 += d * (v - w.mean);
    }
  for (int o = 16; o > 0; o /= 2)
    w = join(w, Welford{__shfl_down_sync(~0u, w.mean, o), __shfl_down_sync(~0u, w.m2, o), __shfl_down_sync(~0u, w.n, o)});
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = w;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < blockDim.x / 32; ++k) w = join(w, part[k]);
    running_mean[c] = (1 - momentum) * running_mean[c] + momentum * w.mean;
    running_var[c] = (1 - momentum) * running_var[c] + momentum * w.m2 / (w.n - 1);
    part[0] = w;
  }
  __syncthreads();
  const float mean = part[0].mean, f = rsqrtf(part[0].m2 / part[0].n + 1e-5f);
  for (int n = 0; n < batch; ++n)
    for (int i = threadIdx.x; i < spatial; i += blockDim.x) {
      const size_t at = ((size_t)n * channels + c) * spatial + i;
      y[at] = (x[at] - mean) * f;
    }
}
