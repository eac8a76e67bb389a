// A thread rotates four pairs: a float4 of either half of the row, of the cosines and the sines.
// @launch rope<<<ceil_div(rows * half, 1024), 256>>>(x, co, si, y, rows * half, half)
__global__ void __launch_bounds__(256)
    rope(const float* __restrict__ x, const float* __restrict__ co, const float* __restrict__ si,
         float* __restrict__ y, int pairs, int half) {
  if (half % 4 == 0) {
    int i = blockIdx.x * 256 + threadIdx.x, quads = half / 4;
    if (i >= pairs / 4) return;
    int low = i + i / quads * quads, high = low + quads;
    auto x4 = reinterpret_cast<const float4*>(x);
    auto y4 = reinterpret_cast<float4*>(y);
    float4 a = x4[low], b = x4[high];
    float4 c = reinterpret_cast<const float4*>(co)[i], s = reinterpret_cast<const float4*>(si)[i];
    y4[low] = make_float4(a.x * c.x - b.x * s.x, a.y * c.y - b.y * s.y, a.z * c.z - b.z * s.z,
                          a.w * c.w - b.w * s.w);
    y4[high] = make_float4(a.x * s.x + b.x * c.x, a.y * s.y + b.y * c.y, a.z * s.z + b.z * c.z,
                           a.w * s.w + b.w * c.w);
  } else {
    int first = blockIdx.x * 1024;
#pragma unroll
    for (int k = 0; k < 1024; k += 256) {
      int i = first + k + threadIdx.x;
      if (i >= pairs) return;
      size_t low = static_cast<size_t>(i) + i / half * half, high = low + half;
      float a = x[low], b = x[high], c = co[i], s = si[i];
      y[low] = a * c - b * s;
      y[high] = a * s + b * c;
    }
  }
}
