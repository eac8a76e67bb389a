// A warp a row, without shared memory or barriers: four times 32 elements are loaded at once
// and scanned by shuffles; the last lane's sum is carried on.
// @launch row_cumsum<<<ceil_div(rows, 4), 128>>>(x, y, rows, cols)
constexpr int kBatch = 4;

__global__ void __launch_bounds__(128)
    row_cumsum(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* row = x + static_cast<size_t>(r) * cols;
  float* out = y + static_cast<size_t>(r) * cols;
  float carried = 0.0f;
  for (int first = lane; first - lane < cols; first += 32 * kBatch) {
    float v[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; k++) v[k] = first + 32 * k < cols ? row[first + 32 * k] : 0.0f;
      // The scans are independent of each other, so that their shuffles overlap.
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        float before = __shfl_up_sync(~0u, v[k], step);
        if (lane >= step) v[k] += before;
      }
    }
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      if (first + 32 * k < cols) out[first + 32 * k] = carried + v[k];
      carried += __shfl_sync(~0u, v[k], 31);
    }
  }
}
