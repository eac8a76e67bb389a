// A warp a row, four words a lane in one load where rows are aligned, two such loads in flight; x
// comes from the L1 cache.
// @launch int8_matvec<<<ceil_div(rows, 8), 256>>>(packed, scale, x, y, rows, words)
__device__ float product(int word, float4 x) {
  float sum = static_cast<signed char>(word) * x.x;
  sum += static_cast<signed char>(word >> 8) * x.y;
  sum += static_cast<signed char>(word >> 16) * x.z;
  return sum + static_cast<signed char>(word >> 24) * x.w;
}

__global__ void __launch_bounds__(256)
    int8_matvec(const int* __restrict__ packed, const float* __restrict__ scale,
                const float* __restrict__ x, float* __restrict__ y, int rows, int words) {
  int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const int* row = packed + static_cast<size_t>(r) * words;
  auto x4 = reinterpret_cast<const float4*>(x);
  float sum = 0.0f;
  if (words % 4 == 0) {
    auto row4 = reinterpret_cast<const int4*>(row);
#pragma unroll 2
    for (int w = lane; w < words / 4; w += 32) {
      int4 four = __ldcs(row4 + w);
      sum += product(four.x, x4[4 * w]) + product(four.y, x4[4 * w + 1]) +
             product(four.z, x4[4 * w + 2]) + product(four.w, x4[4 * w + 3]);
    }
  } else {
#pragma unroll 4
    for (int w = lane; w < words; w += 32) sum += product(row[w], x4[w]);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) y[r] = scale[r] * sum;
}
