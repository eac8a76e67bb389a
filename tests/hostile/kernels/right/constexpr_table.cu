// task: stencil_1d expect: ok
// Weights in a constexpr array, a shared tile with a halo.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, y, n)
constexpr int kHalo = 1, kBlock = 128;
__device__ constexpr float kWeights[3] = {1.0f / 3, 1.0f / 3, 1.0f / 3};
__global__ void kern(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float tile[kBlock + 2 * kHalo];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  tile[threadIdx.x + kHalo] = i < n ? x[i] : 0.0f;
  if (threadIdx.x < kHalo) {
    tile[threadIdx.x] = i >= kHalo ? x[i - kHalo] : 0.0f;
    tile[threadIdx.x + kBlock + kHalo] = i + kBlock < n ? x[i + kBlock] : 0.0f;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = 0.0f;
#pragma unroll
  for (int t = -kHalo; t <= kHalo; ++t) sum += kWeights[t + kHalo] * tile[threadIdx.x + kHalo + t];
  y[i] = sum;
}
