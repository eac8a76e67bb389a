// emulate: --launch 'root<<<1, 32>>>(x)' --buffer x=f32[32]:-1
// fault: trap 7
// A negative number has no root.
#include <cassert>
__global__ void root(float* x) {
  float v = x[threadIdx.x];
  assert(v >= 0);
  x[threadIdx.x] = sqrtf(v);
}
