// task: vector_mul expect: ok|wrong_result
// It is wrong for inputs beyond the range of a half, which some evaluations draw.
// Through half2 and back with the rest in float: exact sums of high and low parts.
// @launch kern<<<ceil_div(len, 128), 128>>>(u, v, res, len)
#include <cuda_fp16.h>
__global__ void kern(const float* u, const float* v, float* res, int len) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= len) return;
  const __half2 high = __floats2half2_rn(u[i], v[i]);
  const float2 h = __half22float2(high);
  const float lu = u[i] - h.x, lv = v[i] - h.y;
  res[i] = h.x * h.y + (h.x * lv + lu * h.y + lu * lv);
}
