// Batch normalisation with the channel from a grid dimension.
__global__ void batchnorm_inference(const float* __restrict__ x, const float* __restrict__ mean, const float* __restrict__ var, const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ y, int channels, int spatial, double eps) {
  const int c = blockIdx.y, n = blockIdx.z;
  const float scale = w[c] * (float)rsqrt((double)var[c] + eps), shift = fmaf(-mean[c], scale, b[c]);
  const size_t base = ((size_t)n * channels + c) * spatial;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < spatial; i += gridDim.x * blockDim.x) y[base + i] = fmaf(x[base + i], scale, shift);
}
