// A warp a row, a word a lane, four of them in flight: 32 neighbouring words are four groups, whose
// scales the lanes share. x comes from the L1 cache.
// @launch int4_matvec<<<ceil_div(rows, 8), 256>>>(packed, scale, x, y, rows, groups)
#include <cuda_fp16.h>

__global__ void __launch_bounds__(256)
    int4_matvec(const int* __restrict__ packed, const half* __restrict__ scale,
                const float* __restrict__ x, float* __restrict__ y, int rows, int groups) {
  int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, words = 8 * groups;
  if (r >= rows) return;
  const int* row = packed + static_cast<size_t>(r) * words;
  const half* scales = scale + static_cast<size_t>(r) * groups;
  auto x4 = reinterpret_cast<const float4*>(x);
  float total = 0.0f;
#pragma unroll 4
  for (int w = lane; w < words; w += 32) {
    unsigned word = __ldcs(row + w);
    float4 low = x4[2 * w], high = x4[2 * w + 1];
    float v[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += (static_cast<int>(word >> (4 * i) & 15) - 8) * v[i];
    total += __half2float(scales[w / 8]) * sum;
  }
  for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0u, total, step);
  if (lane == 0) y[r] = total;
}
