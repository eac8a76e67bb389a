// A block has 4096 elements of a channel of an image at most, four float4 in flight a thread; the
// channel's factor and offset are computed once a thread.
// @launch batchnorm_relu<<<dim3(batch * channels, ceil_div(len, 4096)), min(256, 32 * ceil_div(len, 128))>>>(x, mean, var, gamma, beta, y, channels, len)
constexpr int kBatch = 4;

__global__ void __launch_bounds__(256)
    batchnorm_relu(const float* __restrict__ x, const float* __restrict__ mean,
                   const float* __restrict__ var, const float* __restrict__ gamma,
                   const float* __restrict__ beta, float* __restrict__ y, int channels, int len) {
  int c = blockIdx.x % channels, first = blockIdx.y * 4096, end = min(len, first + 4096);
  float factor = rsqrtf(var[c] + 1e-5f) * gamma[c], centre = mean[c], offset = beta[c];
  const float* row = x + static_cast<size_t>(blockIdx.x) * len;
  float* out = y + static_cast<size_t>(blockIdx.x) * len;
  auto result = [&](float v) { return fmaxf(0.0f, (v - centre) * factor + offset); };
  if (len % 4 == 0) {
    auto row4 = reinterpret_cast<const float4*>(row);
    auto out4 = reinterpret_cast<float4*>(out);
    for (int i = first / 4 + threadIdx.x; i < end / 4; i += kBatch * blockDim.x) {
      float4 v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++)
        if (i + k * blockDim.x < end / 4) v[k] = row4[i + k * blockDim.x];
#pragma unroll
      for (int k = 0; k < kBatch; k++)
        if (i + k * blockDim.x < end / 4)
          out4[i + k * blockDim.x] =
              make_float4(result(v[k].x), result(v[k].y), result(v[k].z), result(v[k].w));
    }
  } else {
#pragma unroll 4
    for (int i = first + threadIdx.x; i < end; i += blockDim.x) out[i] = result(row[i]);
  }
}
