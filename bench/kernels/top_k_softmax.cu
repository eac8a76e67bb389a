// A block a row, which it keeps in shared memory. Every thread has its eight greatest values sorted
// in registers; a warp takes the greatest of its lanes' first ones eight times, and the first warp
// does so with the results of the warps. The row's sum needs a second reduction only because more
// than eight elements may reach the eighth's value.
// @launch top_k_softmax<<<rows, min(128, 32 * ceil_div(cols, 128)), 4 * cols>>>(x, y, cols)
constexpr int kTop = 8, kMostWarps = 4;

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
    top_k_softmax(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float row[];
  __shared__ float warps[kMostWarps][kTop], sums[kMostWarps], limits[2];
  size_t first = static_cast<size_t>(blockIdx.x) * cols;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warp_count = blockDim.x / 32;
  float best[kTop];
#pragma unroll
  for (int k = 0; k < kTop; k++) best[k] = -INFINITY;
#pragma unroll 4
  for (int j = threadIdx.x; j < cols; j += blockDim.x) {
    float v = x[first + j];
    row[j] = v;
    insert(best, v);
  }
  float mine = warp_top(best);
  if (lane < kTop) warps[warp][lane] = mine;
  __syncthreads();
  if (warp == 0) {
#pragma unroll
    for (int k = 0; k < kTop; k++) best[k] = lane < warp_count ? warps[lane][k] : -INFINITY;
    mine = warp_top(best);
    if (lane == 0) limits[0] = mine;
    if (lane == kTop - 1) limits[1] = mine;
  }
  __syncthreads();
  float top = limits[0], least = limits[1], sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += blockDim.x)
    if (row[j] >= least) sum += __expf(row[j] - top);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < warp_count; w++) total += sums[w];
  float factor = 1.0f / total;
#pragma unroll 4
  for (int j = threadIdx.x; j < cols; j += blockDim.x)
    y[first + j] = row[j] >= least ? __expf(row[j] - top) * factor : 0.0f;
}
