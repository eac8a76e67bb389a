// A block a row, four float4 and their masks in flight a thread, each keeping its greatest allowed
// value and that value's column; then the same over the warp and over the warps. The first of equal
// values wins.
// @launch masked_argmax<<<rows, min(256, 32 * ceil_div(cols, 128))>>>(logits, mask, token, cols)
constexpr int kBatch = 4;

struct Best {
  float value = -INFINITY;
  int column = -1;

  __device__ void take(float other, int at) {
    if (at < 0) return;
    if (column < 0 || other > value || (other == value && at < column)) {
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
    masked_argmax(const float* __restrict__ logits, const int* __restrict__ mask,
                  int* __restrict__ token, int cols) {
  __shared__ float values[8];
  __shared__ int columns[8];
  logits += static_cast<size_t>(blockIdx.x) * cols;
  mask += static_cast<size_t>(blockIdx.x) * cols;
  Best best;
  if (cols % 4 == 0) {
    auto logits4 = reinterpret_cast<const float4*>(logits);
    auto mask4 = reinterpret_cast<const int4*>(mask);
    for (int first = threadIdx.x; first < cols / 4; first += kBatch * blockDim.x) {
      float4 v[kBatch];
      int4 allowed[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        int j = first + k * blockDim.x;
        v[k] = j < cols / 4 ? logits4[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        allowed[k] = j < cols / 4 ? mask4[j] : make_int4(0, 0, 0, 0);
      }
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        int j = 4 * (first + k * blockDim.x);
        best.take(v[k].x, allowed[k].x != 0 ? j : -1);
        best.take(v[k].y, allowed[k].y != 0 ? j + 1 : -1);
        best.take(v[k].z, allowed[k].z != 0 ? j + 2 : -1);
        best.take(v[k].w, allowed[k].w != 0 ? j + 3 : -1);
      }
    }
  } else {
#pragma unroll 4
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
      best.take(logits[j], mask[j] != 0 ? j : -1);
  }
  best.take_from_warp();
  if (threadIdx.x % 32 == 0) {
    values[threadIdx.x / 32] = best.value;
    columns[threadIdx.x / 32] = best.column;
  }
  __syncthreads();
  if (threadIdx.x >= 32) return;
  best = Best();
  if (threadIdx.x < blockDim.x / 32) {
    best.value = values[threadIdx.x];
    best.column = columns[threadIdx.x];
  }
  best.take_from_warp();
  if (threadIdx.x == 0) token[blockIdx.x] = best.column;
}
