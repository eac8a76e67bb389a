// task: int4_matvec
// @launch product<<<rows, 32>>>(packed, scale, x, y, groups)
#include <cuda_fp16.h>
__global__ void product(const int* packed, const half* scale, const float* x, float* y, int groups) {
  int g = threadIdx.x, at = blockIdx.x * groups + g;
  float sum = 0.0f;
  if (g < groups) {
    for (int k = 0; k < 64; k++) sum += ((packed[at * 8 + k / 8] >> (4 * (k % 8)) & 15) - 8) * x[64 * g + k];
    sum *= __half2float(scale[at]);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
