// Tiles of 2048 outputs, two float4 of the gate and two of the other half in flight a thread.
// @launch swiglu<<<ceil_div(rows * half, 2048), 256>>>(x, y, rows * half, half)
constexpr int kThreads = 256, kTile = 2048;

__device__ float gated(float gate, float value) {
  return __fdividef(gate, 1.0f + __expf(-gate)) * value;
}

__global__ void __launch_bounds__(kThreads) swiglu(const float* __restrict__ x,
                                                   float* __restrict__ y, int count, int half) {
  if (half % 4 == 0) {
    auto x4 = reinterpret_cast<const float4*>(x);
    auto y4 = reinterpret_cast<float4*>(y);
    int first = blockIdx.x * (kTile / 4) + threadIdx.x, quads = half / 4;
#pragma unroll
    for (int k = 0; k < kTile / 4; k += kThreads) {
      int i = first + k;
      if (i < count / 4) {
        int at = i + i / quads * quads;
        float4 g = x4[at], v = x4[at + quads];
        y4[i] = make_float4(gated(g.x, v.x), gated(g.y, v.y), gated(g.z, v.z), gated(g.w, v.w));
      }
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
