// Tiles of 4096 elements, four float4 in flight a thread; the neighbours of a float4 come from the
// neighbouring lanes, and at the ends of the warp from memory. First and last tile by scalars.
// @launch stencil_1d<<<ceil_div(n, 4096), 256>>>(x, y, n)
constexpr int kThreads = 256, kVectors = 4, kTile = 4 * kThreads * kVectors;

__device__ float mean(float a, float b, float c) { return (a + b + c) * (1.0f / 3.0f); }

__global__ void __launch_bounds__(kThreads) stencil_1d(const float* __restrict__ x,
                                                       float* __restrict__ y, int n) {
  int first = blockIdx.x * kTile;
  if (first == 0 || first + kTile >= n) {
    for (int i = first + threadIdx.x; i < min(n, first + kTile); i += kThreads)
      y[i] = mean(i > 0 ? x[i - 1] : 0.0f, x[i], i + 1 < n ? x[i + 1] : 0.0f);
    return;
  }
  int lane = threadIdx.x % 32;
  float4 v[kVectors];
  float edge[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    const float* at = x + first + 4 * (k * kThreads + threadIdx.x);
    v[k] = *reinterpret_cast<const float4*>(at);
    edge[k] = lane == 0 ? at[-1] : lane == 31 ? at[4] : 0.0f;
  }
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    float before = __shfl_up_sync(~0u, v[k].w, 1), after = __shfl_down_sync(~0u, v[k].x, 1);
    if (lane == 0) before = edge[k];
    if (lane == 31) after = edge[k];
    *reinterpret_cast<float4*>(y + first + 4 * (k * kThreads + threadIdx.x)) =
        make_float4(mean(before, v[k].x, v[k].y), mean(v[k].x, v[k].y, v[k].z),
                    mean(v[k].y, v[k].z, v[k].w), mean(v[k].z, v[k].w, after));
  }
}
