// emulate: --launch 'axpy<<<1, 64>>>(x, y, 64)' --buffer x=f16[128]:arange --buffer y=f16[128]:ones
// holds: y = 1 3 5 7 9 11 13 15
// Two halves at once.
#include <cuda_fp16.h>
__global__ void axpy(const half2* x, half2* y, int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pairs) y[i] = __hfma2(__float2half2_rn(2.0f), x[i], y[i]);
}
