// The math functions of half and half2.
#include <cuda_fp16.h>
__global__ void half_math(const __half* x, __half* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half v = x[i];
  __half r = hexp(v) + hlog(__habs(v)) + hsqrt(__habs(v)) + hrsqrt(__habs(v)) + hsin(v) + hcos(v) + hrcp(v) + hexp2(v) + hlog2(__habs(v)) + hexp10(v);
  r = r + hfloor(v) + hceil(v) + htrunc(v) + hrint(v);
  y[i] = __hisinf(r) ? __float2half(0.f) : r;
}
__global__ void half2_math(const __half2* x, __half2* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half2 v = x[i], a = __habs2(v);
  __half2 r = __hadd2(h2exp(v), h2sqrt(a));
  r = __hfma2(r, h2sin(v), h2cos(v));
  r = __hmin2(r, __hmax2(v, a));
  r = __hadd2(r, __heq2(v, a));
  r = __h2div(r, __hadd2(a, __float2half2_rn(1.f)));
  y[i] = __hbge2(r, v) ? r : __lowhigh2highlow(r);
}
