// task: scale expect: ok
// __nv_bfloat162 splits into three parts, joined in float.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, y, alpha, n)
#include <cuda_bf16.h>
__global__ void kern(const float* x, float* y, float alpha, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float rest = x[i], sum = 0;
  __nv_bfloat16 part[3];
  for (int k = 0; k < 3; ++k) {
    part[k] = __float2bfloat16(rest);
    rest -= __bfloat162float(part[k]);
  }
  const __nv_bfloat162 two = __halves2bfloat162(part[1], part[2]);
  sum = __low2float(two) + __high2float(two);
  y[i] = alpha * (__bfloat162float(part[0]) + (sum + rest));
}
