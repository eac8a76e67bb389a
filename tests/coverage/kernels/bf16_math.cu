// arch: sm_80
// Arithmetic and conversions of bfloat16.
#include <cuda_bf16.h>
__global__ void bf16_math(const __nv_bfloat162* a, const __nv_bfloat162* b, __nv_bfloat162* c, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat162 v = __hfma2(a[i], b[i], __hadd2(a[i], b[i]));
  v = __hsub2(v, __hmul2(a[i], a[i]));
  v = __hmax2(v, __hmin2(a[i], b[i]));
  c[i] = __halves2bfloat162(hexp(__low2bfloat16(v)), hsqrt(__habs(__high2bfloat16(v))));
  sums[i] = __low2float(c[i]) + __bfloat162float(__hneg(__high2bfloat16(v))) + (__hgt(__low2bfloat16(a[i]), __low2bfloat16(b[i])) ? 1.f : 0.f) + __bfloat162int_rz(__low2bfloat16(v));
}
