// task: relu expect: ok
// Comparisons, minimum, conversions and fused operations of half and half2 decide, float gives the value.
// @launch kern<<<ceil_div(size, 128), 128>>>(inp, out, size)
#include <cuda_fp16.h>
__global__ void kern(const float* inp, float* out, int size) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= size) return;
  const float v = inp[i];
  const __half sign = __float2half_rn(v > 0 ? 1.0f : v < 0 ? -1.0f : 0.0f);
  const __half zero = __float2half(0.0f), one = __int2half_rn(1);
  const bool positive = __hgt(sign, zero) && __hle(sign, one) && !__hisnan(__hfma(sign, one, zero)) &&
                        __hbgt2(__half2half2(sign), __float2half2_rn(-0.5f)) && __heq(__hmax(sign, zero), __habs(sign)) &&
                        __half2int_rz(__hmul(sign, sign)) == 1;
  out[i] = positive ? v : 0.0f;
}
