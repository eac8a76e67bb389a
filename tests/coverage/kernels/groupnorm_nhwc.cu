// Group normalisation in NHWC order with SiLU behind it.
__global__ void groupnorm_stats(const float* x, float2* stats, int hw, int channels, int groups) {
  const int n = blockIdx.y, g = blockIdx.x, per = channels / groups;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < hw * per; i += blockDim.x) {
    const float v = x[((size_t)n * hw + i / per) * channels + g * per + i % per];
    s += v;
    q += v * v;
  }
  __shared__ float ss[256], qs[256];
  ss[threadIdx.x] = s;
  qs[threadIdx.x] = q;
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    __syncthreads();
    if (threadIdx.x < d) ss[threadIdx.x] += ss[threadIdx.x + d], qs[threadIdx.x] += qs[threadIdx.x + d];
  }
  if (threadIdx.x == 0) {
    const float m = ss[0] / (hw * per);
    stats[n * groups + g] = make_float2(m, rsqrtf(fmaxf(qs[0] / (hw * per) - m * m, 0.f) + 1e-6f));
  }
}
__global__ void groupnorm_silu(const float* x, const float2* stats, const float* gamma, const float* beta, float* y, int hw, int channels, int groups, int total) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
    const int c = i % channels, n = i / channels / hw;
    const float2 st = stats[n * groups + c / (channels / groups)];
    const float v = (x[i] - st.x) * st.y * gamma[c] + beta[c];
    y[i] = v / (1.f + __expf(-v));
  }
}
