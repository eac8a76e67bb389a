// A block has four rows and reads every element of x once for all of them; the four sums of a
// thread are reduced together.
// @launch int8_matvec<<<ceil_div(rows, 4), min(256, 32 * ceil_div(words, 32))>>>(packed, scale, x, y, rows, words)
constexpr int kRows = 4;

__global__ void __launch_bounds__(256)
    int8_matvec(const int* __restrict__ packed, const float* __restrict__ scale,
                const float* __restrict__ x, float* __restrict__ y, int rows, int words) {
  __shared__ float warps[8][kRows];
  int first = blockIdx.x * kRows, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  auto x4 = reinterpret_cast<const float4*>(x);
  float sums[kRows] = {};
#pragma unroll 2
  for (int w = threadIdx.x; w < words; w += blockDim.x) {
    float4 v = x4[w];
#pragma unroll
    for (int k = 0; k < kRows; k++) {
      int word = first + k < rows ? packed[static_cast<size_t>(first + k) * words + w] : 0;
      sums[k] += static_cast<signed char>(word) * v.x;
      sums[k] += static_cast<signed char>(word >> 8) * v.y;
      sums[k] += static_cast<signed char>(word >> 16) * v.z;
      sums[k] += static_cast<signed char>(word >> 24) * v.w;
    }
  }
#pragma unroll
  for (int k = 0; k < kRows; k++) {
    for (int step = 16; step > 0; step /= 2) sums[k] += __shfl_xor_sync(~0u, sums[k], step);
    if (lane == 0) warps[warp][k] = sums[k];
  }
  __syncthreads();
  int r = first + threadIdx.x;
  if (threadIdx.x >= kRows || r >= rows) return;
  float sum = 0.0f;
  for (int w = 0; w < blockDim.x / 32; w++) sum += warps[w][threadIdx.x];
  y[r] = scale[r] * sum;
}
