// arch: sm_89
// The types of cuda_fp8.h.
#include <cuda_fp8.h>
__global__ void fp8_types(const float* x, __nv_fp8_e4m3* q, __nv_fp8_e5m2* r, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  q[i] = __nv_fp8_e4m3(x[i]);
  r[i] = __nv_fp8_e5m2(x[i]);
  y[i] = float(q[i]) + float(r[i]);
}
