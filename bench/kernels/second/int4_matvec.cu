// A warp has two rows and a lane a group of each, in two loads of four words, so that the scale is
// applied once and x is read once for both rows. Pairs of integers become halves by their bits:
// n | 0x6400 is 1024 + n, from which 1032 is subtracted exactly.
// @launch int4_matvec<<<ceil_div(rows, 8), 128>>>(packed, scale, x, y, rows, groups)
#include <cuda_fp16.h>

constexpr int kRows = 2;

// Nibbles i and i + 4 of a word, less 8.
__device__ float2 pair(unsigned word, int i) {
  unsigned bits = (word >> (4 * i) & 0x000f000fu) | 0x64006400u;
  half2 values = *reinterpret_cast<half2*>(&bits);
  return __half22float2(__hsub2(values, __float2half2_rn(1032.0f)));
}

__global__ void __launch_bounds__(128)
    int4_matvec(const int* __restrict__ packed, const half* __restrict__ scale,
                const float* __restrict__ x, float* __restrict__ y, int rows, int groups) {
  int first = (blockIdx.x * 4 + threadIdx.x / 32) * kRows, lane = threadIdx.x % 32;
  if (first >= rows) return;
  auto words4 = reinterpret_cast<const uint4*>(packed);
  auto x4 = reinterpret_cast<const float4*>(x);
  float totals[kRows] = {};
  for (int g = lane; g < groups; g += 32) {
    float sums[kRows] = {};
#pragma unroll
    for (int part = 0; part < 2; part++) {
      uint4 four[kRows];
#pragma unroll
      for (int k = 0; k < kRows; k++) {
        int r = min(first + k, rows - 1);
        four[k] = words4[(static_cast<size_t>(r) * groups + g) * 2 + part];
      }
#pragma unroll
      for (int w = 0; w < 4; w++) {
        float4 low = x4[g * 16 + part * 8 + 2 * w], high = x4[g * 16 + part * 8 + 2 * w + 1];
        float u[4] = {low.x, low.y, low.z, low.w}, v[4] = {high.x, high.y, high.z, high.w};
#pragma unroll
        for (int k = 0; k < kRows; k++) {
          unsigned word = w == 0 ? four[k].x : w == 1 ? four[k].y : w == 2 ? four[k].z : four[k].w;
#pragma unroll
          for (int i = 0; i < 4; i++) {
            float2 q = pair(word, i);
            sums[k] = fmaf(q.x, u[i], fmaf(q.y, v[i], sums[k]));
          }
        }
      }
    }
#pragma unroll
    for (int k = 0; k < kRows; k++) {
      int r = min(first + k, rows - 1);
      totals[k] += __half2float(scale[static_cast<size_t>(r) * groups + g]) * sums[k];
    }
  }
#pragma unroll
  for (int k = 0; k < kRows; k++) {
    for (int step = 16; step > 0; step /= 2) totals[k] += __shfl_xor_sync(~0u, totals[k], step);
    if (lane == 0 && first + k < rows) y[first + k] = totals[k];
  }
}
