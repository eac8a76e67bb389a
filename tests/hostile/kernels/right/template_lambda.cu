// task: vector_add expect: ok
// @launch apply<float, 4><<<ceil_div(n, 4 * 64), 64>>>(a, b, out, n)
#include <cuda_runtime.h>
#define EACH(k, count) for (int k = 0; k < (count); ++k)
template <typename T, int kEach>
__global__ void apply(const T* a, const T* b, T* out, int n) {
  const auto add = [](T x, T y) { return x + y; };
#pragma unroll
  EACH(k, kEach) {
    const int i = (blockIdx.x * kEach + k) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = add(a[i], b[i]);
  }
}
