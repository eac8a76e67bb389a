// Layer normalisation of half rows in half2 steps.
#include <cuda_fp16.h>
__global__ void layernorm_half(const __half2* x, const __half2* gamma, const __half2* beta, __half2* y, int pairs) {
  __shared__ float shared[32];
  const __half2* row = x + blockIdx.x * (size_t)pairs;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float2 v = __half22float2(row[i]);
    s += v.x + v.y;
    q = fmaf(v.x, v.x, fmaf(v.y, v.y, q));
  }
  const auto reduce = [&](float v) {
    for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? shared[threadIdx.x] : 0.f;
    if (threadIdx.x < 32)
      for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x == 0) shared[0] = v;
    __syncthreads();
    v = shared[0];
    __syncthreads();
    return v;
  };
  const float mean = reduce(s) / (2 * pairs), rstd = rsqrtf(reduce(q) / (2 * pairs) - mean * mean + 1e-5f);
  const __half2 m = __float2half2_rn(mean), r = __float2half2_rn(rstd);
  for (int i = threadIdx.x; i < pairs; i += blockDim.x)
    y[blockIdx.x * (size_t)pairs + i] = __hfma2(__hmul2(__hsub2(row[i], m), r), gamma[i], beta[i]);
}
