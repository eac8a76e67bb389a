// task: vector_add expect: rejected
// Host code by habit.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#include <torch/extension.h>
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
