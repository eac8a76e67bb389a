// A launch folds variance and gamma of each channel into a factor; then a thread takes eight
// elements of the whole tensor, 256 apart, whatever the length of its rows. The mean is still
// subtracted first, as x and mean may be large and close.
// @scratch factors float[channels]
// @launch fold<<<ceil_div(channels, 256), 256>>>(var, gamma, factors, channels)
// @launch apply<<<ceil_div(batch * channels * len, 2048), 256>>>(x, mean, factors, beta, y, batch * channels * len, channels, len)
constexpr int kThreads = 256, kEach = 8;

__global__ void fold(const float* __restrict__ var, const float* __restrict__ gamma,
                     float* __restrict__ factors, int channels) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < channels) factors[c] = gamma[c] / sqrtf(var[c] + 1e-5f);
}

__global__ void __launch_bounds__(kThreads)
    apply(const float* __restrict__ x, const float* __restrict__ mean,
          const float* __restrict__ factors, const float* __restrict__ beta, float* __restrict__ y,
          int count, int channels, int len) {
  int first = blockIdx.x * kEach * kThreads + threadIdx.x;
  float v[kEach];
#pragma unroll
  for (int k = 0; k < kEach; k++)
    if (first + k * kThreads < count) v[k] = x[first + k * kThreads];
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int i = first + k * kThreads;
    if (i >= count) return;
    int c = i / len % channels;
    y[i] = fmaxf(0.0f, (v[k] - mean[c]) * factors[c] + beta[c]);
  }
}
