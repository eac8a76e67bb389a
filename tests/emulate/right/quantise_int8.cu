// emulate: --launch 'quantise<<<2, 64>>>(x, q, n, inv)' --buffer x=f16[100]:arange --buffer q=i8[100] --value n=100 --value inv=2.0
// holds: q = 0 2 4 6 8 10 12 14
// Half precision to bytes, rounded and clamped.
#include <cuda_fp16.h>
__global__ void quantise(const __half* x, signed char* q, int n, float inv) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int v = __float2int_rn(__half2float(x[i]) * inv);
    q[i] = max(-128, min(127, v));
  }
}
