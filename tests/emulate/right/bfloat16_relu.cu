// emulate: --launch 'relu<<<1, 128>>>(x, y, 128)' --buffer x=bf16[128]:-3 --buffer y=bf16[128]
// holds: y = 0 0 0 0
// The activation of a layer in bfloat16.
#include <cuda_bf16.h>
__global__ void relu(const __nv_bfloat16* x, __nv_bfloat16* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hmax(x[i], __float2bfloat16(0.0f));
}
