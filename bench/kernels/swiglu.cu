// Tiles of 2048 outputs, two float4 of the gate and two of the other half in flight a thread.
// @launch swiglu<<<ceil_div(rows * half, 2048), 256>>>(x, y, rows * half, half)
constexpr int kThreads = 256, kVectors = 2, kTile = 4 * kVectors * kThreads;

__device__ float gated(float gate, float value) {
  return __fdividef(gate, 1.0f + __expf(-gate)) * value;
}

__global__ void __launch_bounds__(kThreads)
    swiglu(const float* __restrict__ x, float* __restrict__ y, int count, int half) {
  if (half % 4 == 0) {
    auto x4 = reinterpret_cast<const float4*>(x);
    auto y4 = reinterpret_cast<float4*>(y);
    int first = blockIdx.x * (kTile / 4) + threadIdx.x, quads = half / 4;
    float4 g[kVectors], v[kVectors];
#pragma unroll
    for (int k = 0; k < kVectors; k++) {
      int i = first + k * kThreads;
      if (i >= count / 4) continue;
      int at = i + i / quads * quads;
      g[k] = x4[at];
      v[k] = x4[at + quads];
    }
#pragma unroll
    for (int k = 0; k < kVectors; k++) {
      int i = first + k * kThreads;
      if (i < count / 4)
        y4[i] = make_float4(gated(g[k].x, v[k].x), gated(g[k].y, v[k].y), gated(g[k].z, v[k].z),
                            gated(g[k].w, v[k].w));
    }
  } else {
    int first = blockIdx.x * kTile + threadIdx.x;
#pragma unroll 4
    for (int k = 0; k < kTile; k += kThreads) {
      int i = first + k;
      if (i < count) {
        int at = i + i / half * half;
        y[i] = gated(x[at], x[at + half]);
      }
    }
  }
}
