// task: vector_add expect: ok
// Headers of the host that models include without need, and std::min of <algorithm>.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#include <cuda.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <string.h>
#include <vector>
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = std::min(static_cast<int>(blockIdx.x * 128 + threadIdx.x), n - 1);
  std::array<float, 2> pair;
  memcpy(&pair[0], a + i, sizeof(float));
  memcpy(&pair[1], b + i, sizeof(float));
  out[i] = pair[0] + pair[1];
}
