// A block a row, eight float4 in flight a thread, each keeping its greatest value and that value's
// column; then the same over the warp and over the warps. The first of equal values wins.
// @launch row_argmax<<<rows, min(256, 32 * ceil_div(cols, 128))>>>(x, y, cols)
constexpr int kBatch = 8;

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

__global__ void __launch_bounds__(256)
    row_argmax(const float* __restrict__ x, int* __restrict__ y, int cols) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  Best best = {-INFINITY, cols};
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
        int j = 4 * (first + k * blockDim.x);
        best.take(v[k].x, j);
        best.take(v[k].y, j + 1);
        best.take(v[k].z, j + 2);
        best.take(v[k].w, j + 3);
      }
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
