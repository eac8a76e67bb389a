// A block a row, eight float4 in flight a thread, each keeping its greatest value and that value's
// column; then the same over the warp and over the warps. The first of equal values wins.
// @launch row_argmax<<<rows, min(256, 32 * ceil_div(cols, 128))>>>(x, y, cols)
struct Best {
  float value;
  int column;

  __device__ void take(float other, int at) {
    if (other > value || (other == value && at < column)) {
      value = other;
      column = at;
    }
  }
  __device__ void take_from_warp() {
    for (int step = 16; step > 0; step /= 2) {
      float other = __shfl_down_sync(~0u, value, step);
      int at = __shfl_down_sync(~0u, column, step);
      take(other, at);
    }
  }
};

__global__ void __launch_bounds__(256) row_argmax(const float* __restrict__ x, int* __restrict__ y,
                                                  int cols) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  Best best = {-INFINITY, cols};
  if (cols % 4 == 0) {
    auto row4 = reinterpret_cast<const float4*>(row);
#pragma unroll 8
    for (int j = threadIdx.x; j < cols / 4; j += blockDim.x) {
      float4 v = row4[j];
      best.take(v.x, 4 * j);
      best.take(v.y, 4 * j + 1);
      best.take(v.z, 4 * j + 2);
      best.take(v.w, 4 * j + 3);
    }
  } else {
#pragma unroll 8
    for (int j = threadIdx.x; j < cols; j += blockDim.x) best.take(row[j], j);
  }
  __shared__ Best warps[8];
  best.take_from_warp();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  if (threadIdx.x < blockDim.x / 32) best = warps[threadIdx.x];
  best.take_from_warp();
  if (threadIdx.x == 0) y[blockIdx.x] = best.column;
}
