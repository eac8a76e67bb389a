// Conversions between half, integers of all widths, double and bits.
#include <cuda_fp16.h>
__global__ void half_conversions(const float* x, int* out, short* shorts, double* doubles, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half h = __float2half_rn(x[i]), z = __float2half_rz(x[i]), u = __float2half_ru(x[i]), d = __float2half_rd(x[i]);
  out[4 * i] = __half2int_rn(h) + __half2int_rz(z) + __half2int_ru(u) + __half2int_rd(d);
  out[4 * i + 1] = (int)__half2uint_rn(h) + __half_as_ushort(h) + __half_as_short(z);
  out[4 * i + 2] = __half2float(__int2half_rn(i)) + __half2float(__uint2half_rn(i)) + __half2float(__short2half_rn((short)i));
  out[4 * i + 3] = (int)__half2ll_rn(h) + (int)__half2ull_rz(u);
  shorts[i] = __half2short_rn(h) + (short)__half2ushort_rn(u);
  doubles[i] = (double)__half2float(__double2half((double)x[i])) + __half2float(__ushort_as_half((unsigned short)i));
}
