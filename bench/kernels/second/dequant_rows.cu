// A warp a row. Bytes become floats by a permutation: a byte with its sign flipped in the lowest
// bits of 2^23 is 2^23 + 128 + q, and the subtraction of that offset and of the zero point is
// exact.
// @launch dequant_rows<<<ceil_div(rows, 8), 256>>>(packed, scale, zero, y, rows, words)
constexpr unsigned kExponent = 0x4b000000u;  // of 2^23

template <unsigned kByte>
__device__ float with_offset(unsigned word) {
  return __uint_as_float(__byte_perm(word, kExponent, 0x7540u | kByte));
}

__global__ void __launch_bounds__(256)
    dequant_rows(const int* __restrict__ packed, const float* __restrict__ scale,
                 const int* __restrict__ zero, float* __restrict__ y, int rows, int words) {
  int r = blockIdx.x * 8 + threadIdx.x / 32;
  if (r >= rows) return;
  const int* row = packed + static_cast<size_t>(r) * words;
  auto out = reinterpret_cast<float4*>(y) + static_cast<size_t>(r) * words;
  float s = scale[r], offset = 8388608.0f + 128.0f + zero[r];
#pragma unroll 4
  for (int w = threadIdx.x % 32; w < words; w += 32) {
    unsigned word = static_cast<unsigned>(row[w]) ^ 0x80808080u;
    out[w] = make_float4(s * (with_offset<0>(word) - offset), s * (with_offset<1>(word) - offset),
                         s * (with_offset<2>(word) - offset), s * (with_offset<3>(word) - offset));
  }
}
