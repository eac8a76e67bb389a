// A warp a row: the total with eight elements in flight a lane, then a scan of 32 elements at a
// time that ends where the target is passed.
// @launch sample<<<ceil_div(rows, 4), 128>>>(weights, pick, token, rows, cols)
constexpr int kBatch = 4;

__global__ void __launch_bounds__(128)
    sample(const int* __restrict__ weights, const int* __restrict__ pick, int* __restrict__ token,
           int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  weights += static_cast<size_t>(r) * cols;
  int sum = 0;
#pragma unroll 8
  for (int j = lane; j < cols; j += 32) sum += weights[j];
  long long total = __reduce_add_sync(~0u, sum);
  int target = static_cast<int>(pick[r] * total >> 30), before = 0;
  for (int first = 0; first < cols; first += 32 * kBatch) {
    int v[kBatch], part = 0;
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      int j = first + 32 * k + lane;
      v[k] = j < cols ? weights[j] : 0;
      part += v[k];
    }
    part = __reduce_add_sync(~0u, part);
    if (before + part <= target) {
      before += part;
      continue;
    }
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      int upto = v[k];
      for (int step = 1; step < 32; step *= 2) {
        int below = __shfl_up_sync(~0u, upto, step);
        if (lane >= step) upto += below;
      }
      unsigned beyond = __ballot_sync(~0u, before + upto > target);
      if (beyond != 0) {
        if (lane == 0) token[r] = first + 32 * k + __ffs(beyond) - 1;
        return;
      }
      before += __shfl_sync(~0u, upto, 31);
    }
  }
  if (lane == 0) token[r] = cols - 1;
}
