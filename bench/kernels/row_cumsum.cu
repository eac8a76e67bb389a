// A block a row, 1024 elements at a time, a float4 a thread: a scan over the warp, the sums of the
// warps before, and the sum of what came before the tile.
// @launch row_cumsum<<<rows, 256>>>(x, y, cols)
constexpr int kThreads = 256, kWarps = kThreads / 32, kTile = 4 * kThreads;

__device__ float warp_scan(float value) {
  for (int step = 1; step < 32; step *= 2) {
    float before = __shfl_up_sync(~0u, value, step);
    if (threadIdx.x % 32 >= step) value += before;
  }
  return value;
}

__global__ void __launch_bounds__(kThreads)
    row_cumsum(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ float totals[2][kWarps];  // by turns, so that one barrier a tile is enough
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float* out = y + static_cast<size_t>(blockIdx.x) * cols;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  bool aligned = cols % 4 == 0;
  float before_tile = 0.0f;
  for (int first = 0, turn = 0; first < cols; first += kTile, turn ^= 1) {
    int j = first + 4 * threadIdx.x;
    float v[4] = {};
    if (aligned) {
      if (j < cols) {
        float4 part = *reinterpret_cast<const float4*>(row + j);
        v[0] = part.x;
        v[1] = part.y;
        v[2] = part.z;
        v[3] = part.w;
      }
    } else {
#pragma unroll
      for (int k = 0; k < 4; k++) v[k] = j + k < cols ? row[j + k] : 0.0f;
    }
#pragma unroll
    for (int k = 1; k < 4; k++) v[k] += v[k - 1];
    float upto = warp_scan(v[3]);
    if (lane == 31) totals[turn][warp] = upto;
    __syncthreads();
    float before = before_tile + (upto - v[3]);
#pragma unroll
    for (int w = 0; w < kWarps; w++) {
      if (w < warp) before += totals[turn][w];
      before_tile += totals[turn][w];
    }
    if (aligned) {
      if (j < cols)
        *reinterpret_cast<float4*>(out + j) =
            make_float4(before + v[0], before + v[1], before + v[2], before + v[3]);
    } else {
#pragma unroll
      for (int k = 0; k < 4; k++)
        if (j + k < cols) out[j + k] = before + v[k];
    }
  }
}
