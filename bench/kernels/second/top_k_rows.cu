// A warp a row. Lanes 0 to 7 have the greatest values so far; of the 32 loaded next, only those
// above the eighth are inserted, one by one, with a shuffle. After a few hundred elements hardly
// any are.
// @launch top_k_rows<<<ceil_div(rows, 4), 128>>>(x, y, rows, cols)
constexpr int kTop = 8, kBatch = 8;

__global__ void __launch_bounds__(128)
    top_k_rows(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* row = x + static_cast<size_t>(r) * cols;
  float best = lane < kTop ? -INFINITY : INFINITY;  // lane k: the k-th greatest
  float least = -INFINITY;
  for (int first = lane; first - lane < cols; first += 32 * kBatch) {
    float v[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; k++) v[k] = first + 32 * k < cols ? row[first + 32 * k] : -INFINITY;
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      unsigned greater = __ballot_sync(~0u, v[k] > least);
      while (greater != 0) {
        float value = __shfl_sync(~0u, v[k], __ffs(greater) - 1);
        greater &= greater - 1;
        if (value <= least) continue;
        float above = __shfl_up_sync(~0u, best, 1);
        if (lane == 0) above = INFINITY;
        if (lane < kTop && value > best) best = value > above ? above : value;
        least = __shfl_sync(~0u, best, kTop - 1);
      }
    }
  }
  if (lane < kTop) y[r * kTop + lane] = best;
}
