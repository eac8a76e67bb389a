// task: swiglu expect: ok
// cuda::std: array, tuple, pair, optional, min, complex of libcu++.
// @launch kern<<<rows, 64>>>(x, y, half)
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/utility>
__device__ cuda::std::pair<float, float> both(const float* row, int c, int half) { return {row[c], row[half + c]}; }
__device__ cuda::std::optional<int> place(int c, int half) {
  if (c < half) return c;
  return cuda::std::nullopt;
}
__global__ void kern(const float* x, float* y, int half) {
  cuda::std::array<float, 2> kept{};
  for (int c = threadIdx.x; place(c, half); c += 64) {
    const auto [gate, value] = both(x + blockIdx.x * 2 * half, c, half);
    kept[c & 1] = gate / (1.0f + cuda::std::exp(-gate));
    const cuda::std::tuple<float, int> pair(kept[c & 1] * value, *place(c, half));
    y[blockIdx.x * half + cuda::std::get<1>(pair)] = cuda::std::get<0>(pair);
  }
}
