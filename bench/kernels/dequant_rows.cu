// A thread a word, four of them in flight, and a float4 stored for each: the row's scale and zero
// point are the same for most of a warp.
// @launch dequant_rows<<<dim3(ceil_div(words, 1024), rows), 256>>>(packed, scale, zero, y, words)
constexpr int kThreads = 256, kEach = 4;

__global__ void __launch_bounds__(kThreads)
    dequant_rows(const int* __restrict__ packed, const float* __restrict__ scale,
                 const int* __restrict__ zero, float* __restrict__ y, int words) {
  int r = blockIdx.y, first = blockIdx.x * kEach * kThreads + threadIdx.x;
  const int* row = packed + static_cast<size_t>(r) * words;
  auto out = reinterpret_cast<float4*>(y) + static_cast<size_t>(r) * words;
  float s = scale[r];
  int z = zero[r], word[kEach];
#pragma unroll
  for (int k = 0; k < kEach; k++)
    if (first + k * kThreads < words) word[k] = row[first + k * kThreads];
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    if (first + k * kThreads >= words) continue;
    int v = word[k];
    float q[4];
#pragma unroll
    for (int b = 0; b < 4; b++) q[b] = s * (static_cast<signed char>(v >> (8 * b)) - z);
    out[first + k * kThreads] = make_float4(q[0], q[1], q[2], q[3]);
  }
}
