// A block a row: every thread keeps its eight greatest values sorted in registers. A warp then
// takes the greatest of its lanes' first ones eight times; the first warp does so with the results
// of the warps.
// @launch top_k_rows<<<rows, min(128, 32 * ceil_div(cols, 256))>>>(x, y, cols)
constexpr int kTop = 8, kBatch = 4, kMostWarps = 4;

__device__ void insert(float (&best)[kTop], float v) {
  if (v <= best[kTop - 1]) return;
#pragma unroll
  for (int k = 0; k < kTop; k++) {
    float less = fminf(best[k], v);
    best[k] = fmaxf(best[k], v);
    v = less;
  }
}

// Lane k gets the k-th greatest value of all lanes, for k < 8.
__device__ float warp_top(float (&best)[kTop]) {
  int lane = threadIdx.x % 32;
  float mine = -INFINITY;
#pragma unroll
  for (int k = 0; k < kTop; k++) {
    float top = best[0];
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
    if (lane == k) mine = top;
    unsigned owners = __ballot_sync(~0u, best[0] == top);
    if (lane == __ffs(owners) - 1) {
#pragma unroll
      for (int i = 1; i < kTop; i++) best[i - 1] = best[i];
      best[kTop - 1] = -INFINITY;
    }
  }
  return mine;
}

__global__ void __launch_bounds__(32 * kMostWarps)
    top_k_rows(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ float warps[kMostWarps][kTop];
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float best[kTop];
#pragma unroll
  for (int k = 0; k < kTop; k++) best[k] = -INFINITY;
  if (cols % 4 == 0) {
    auto row4 = reinterpret_cast<const float4*>(row);
    for (int first = threadIdx.x; first < cols / 4; first += kBatch * blockDim.x) {
      float4 v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        int j = first + k * blockDim.x;
        v[k] = j < cols / 4 ? row4[j] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
      }
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        insert(best, v[k].x);
        insert(best, v[k].y);
        insert(best, v[k].z);
        insert(best, v[k].w);
      }
    }
  } else {
    for (int j = threadIdx.x; j < cols; j += blockDim.x) insert(best, row[j]);
  }
  float mine = warp_top(best);
  if (lane < kTop) warps[warp][lane] = mine;
  __syncthreads();
  if (warp > 0) return;
#pragma unroll
  for (int k = 0; k < kTop; k++) best[k] = -INFINITY;
  if (lane < blockDim.x / 32) {
#pragma unroll
    for (int k = 0; k < kTop; k++) best[k] = warps[lane][k];
  }
  mine = warp_top(best);
  if (lane < kTop) y[blockIdx.x * kTop + lane] = mine;
}
