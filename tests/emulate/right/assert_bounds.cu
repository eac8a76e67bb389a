// emulate: --launch 'halve<<<1, 64>>>(x, 64)' --buffer x=i32[64]:10
// holds: x = 5 5 5 5
// The assertion holds for every thread.
#include <assert.h>
__global__ void halve(int* x, int n) {
  int i = threadIdx.x;
  assert(i < n && x[i] % 2 == 0);
  x[i] /= 2;
}
