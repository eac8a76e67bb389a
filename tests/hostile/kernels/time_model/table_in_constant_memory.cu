// task: int4_matvec expect: ok max-speedup: 3.2
// Weights by a table in constant memory, whose addresses differ from lane to lane: one after the other.
// @launch kern<<<rows, 32>>>(packed, scale, x, y, groups)
#include <cuda_fp16.h>
__constant__ float weight[16] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
__global__ void kern(const unsigned* packed, const half* scale, const float* x, float* y, int groups) {
  const int row = blockIdx.x;
  float sum = 0;
  for (int w = threadIdx.x; w < 8 * groups; w += 32) {
    const unsigned bits = packed[row * groups * 8 + w];
    float part = 0;
    for (int i = 0; i < 8; ++i) part += weight[bits >> (4 * i) & 15] * x[w * 8 + i];
    sum += part * __half2float(scale[row * groups + w / 8]);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[row] = sum;
}
