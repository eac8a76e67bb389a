// total_sum
#include <algorithm>

namespace {

__device__ float partial[1024];

__global__ void block_sums(const float* x, int n) {
  __shared__ float shared[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = shared[0];
}

__global__ void sum_of_sums(float* y, int blocks) {
  float sum = 0;
  for (int i = 0; i < blocks; ++i) sum += partial[i];
  *y = sum;
}

}  // namespace

void launch(const float* x, float* y, long long n) {
  const int blocks = static_cast<int>(std::clamp<long long>((n + 255) / 256, 1, 1024));
  block_sums<<<blocks, 256>>>(x, static_cast<int>(n));
  sum_of_sums<<<1, 1>>>(y, blocks);
}
