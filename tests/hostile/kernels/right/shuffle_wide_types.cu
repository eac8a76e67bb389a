// task: dot expect: ok
// Shuffles of double, long long and half.
// @launch kern<<<1, 32>>>(p, q, out, len)
#include <cuda_fp16.h>
__global__ void kern(const float* p, const float* q, float* out, int len) {
  double sum = 0;
  for (int i = threadIdx.x; i < len; i += 32) sum += (double)p[i] * q[i];
  for (int d = 16; d > 0; d /= 2) {
    const long long bits = __shfl_xor_sync(0xffffffffu, __double_as_longlong(sum), d);
    sum += __longlong_as_double(bits);
  }
  const double same = __shfl_sync(0xffffffffu, sum, 7);
  const __half zero = __shfl_sync(0xffffffffu, __float2half(0.0f), 3);
  if (threadIdx.x == 0) *out = (float)same + __half2float(zero);
}
