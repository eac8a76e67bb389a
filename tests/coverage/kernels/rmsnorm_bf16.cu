// RMS normalisation of bfloat16 with 16-byte loads.
// @note a row is a multiple of eight elements
#include <cuda_bf16.h>
union Pack { uint4 raw; __nv_bfloat162 pair[4]; };
__global__ void rmsnorm_bf16(const uint4* x, const uint4* w, uint4* y, int n8, float eps) {
  __shared__ float warps[32];
  float s = 0;
  for (int i = threadIdx.x; i < n8; i += blockDim.x) {
    Pack p{x[blockIdx.x * n8 + i]};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 v = __bfloat1622float2(p.pair[k]);
      s += v.x * v.x + v.y * v.y;
    }
  }
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0;
  for (int k = 0; k < (blockDim.x + 31) / 32; ++k) s += warps[k];
  const float f = rsqrtf(s / (8 * n8) + eps);
  for (int i = threadIdx.x; i < n8; i += blockDim.x) {
    Pack p{x[blockIdx.x * n8 + i]}, g{w[i]}, r;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 v = __bfloat1622float2(p.pair[k]), u = __bfloat1622float2(g.pair[k]);
      r.pair[k] = __floats2bfloat162_rn(v.x * f * u.x, v.y * f * u.y);
    }
    y[blockIdx.x * n8 + i] = r.raw;
  }
}
