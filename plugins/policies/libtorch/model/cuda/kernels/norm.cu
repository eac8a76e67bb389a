// The residual stream: its sum and its norm, forward and backward. A row belongs to kRowWarps
// neighbouring warps of a block, so that a lane holds at most four accesses of it.

using namespace krl::libtorch;

constexpr int kHidden = HIDDEN;
constexpr int kVector = VECTOR;       // elements of an access; divides every width and offset
constexpr int kRowWarps = ROW_WARPS;  // 1, 2, 4 or 8
constexpr int kRowLanes = 32 * kRowWarps;
constexpr int kRowsPerBlock = kNormThreads / kRowLanes;
constexpr int kHiddenVectors = kHidden / kVector;
constexpr int kVectorsPerLane = (kHiddenVectors + kRowLanes - 1) / kRowLanes;

// The sum over the lanes of a row. REQUIRES: all threads of the block.
__device__ inline float row_sum(float x) {
  x = warp_sum(x);
  if constexpr (kRowWarps == 1) return x;
  __shared__ float warps[kNormThreads / 32];
  const int warp = threadIdx.x / 32, first = warp / kRowWarps * kRowWarps;
  __syncthreads();  // all results of the last call have been read
  if (threadIdx.x % 32 == 0) warps[warp] = x;
  __syncthreads();
  x = 0;
#pragma unroll
  for (int w = 0; w < kRowWarps; ++w) x += warps[first + w];
  return x;
}

// The column that access v of this lane begins at.
__device__ inline int column_of(int v) {
  return (v * kRowLanes + static_cast<int>(threadIdx.x) % kRowLanes) * kVector;
}

// sum = x + delta; normed = sum · scale · gain, with scale = 1 / √(mean(sum²) + epsilon). Without a
// delta (null) x is the sum, and `sum` is not written.
extern "C" __global__ void __launch_bounds__(kNormThreads)
    add_and_norm(const Element* x, const Element* delta, const Element* gain, float epsilon,
                 int rows, Element* sum, Element* normed, float* scales) {
  const int row = blockIdx.x * kRowsPerBlock + threadIdx.x / kRowLanes;
  const long long at = static_cast<long long>(row) * kHidden;
  float values[kVectorsPerLane][kVector] = {};
  float squares = 0;
#pragma unroll
  for (int v = 0; v < kVectorsPerLane; ++v) {
    const int column = column_of(v);
    if (row >= rows || column >= kHidden) break;
    load(x + at + column, values[v]);
    if (delta != nullptr) {
      float added[kVector];
      load(delta + at + column, added);
#pragma unroll
      for (int i = 0; i < kVector; ++i) values[v][i] = rounded(values[v][i] + added[i]);
      store(values[v], sum + at + column);
    }
#pragma unroll
    for (int i = 0; i < kVector; ++i) squares += values[v][i] * values[v][i];
  }
  const float scale = rsqrtf(row_sum(squares) / kHidden + epsilon);
  if (row >= rows) return;
  if (threadIdx.x % kRowLanes == 0) scales[row] = scale;
#pragma unroll
  for (int v = 0; v < kVectorsPerLane; ++v) {
    const int column = column_of(v);
    if (column >= kHidden) break;
    float gains[kVector];
    load(gain + column, gains);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[v][i] = rounded(values[v][i] * scale) * gains[i];
    store(values[v], normed + at + column);
  }
}

// Computes, with n = sum · scale and the gradients by_normed and by_sum (null: none reaches the sum
// but through the norm): by_x = by_sum + scale · (g - n · mean(g · n)), where g = by_normed · gain.
// Each block goes through separate rows and leaves its part of Σ by_normed · n in row blockIdx.x of
// gain_parts [blocks, hidden].
extern "C" __global__ void __launch_bounds__(kNormThreads)
    add_and_norm_backward(const Element* sum, const float* scales, const Element* gain,
                          const Element* by_normed, const Element* by_sum, int rows, Element* by_x,
                          float* gain_parts) {
  float by_gain[kVectorsPerLane][kVector] = {};
  for (int first = blockIdx.x * kRowsPerBlock; first < rows; first += gridDim.x * kRowsPerBlock) {
    const int row = first + threadIdx.x / kRowLanes;
    const long long at = static_cast<long long>(row) * kHidden;
    const float scale = row < rows ? scales[row] : 0;
    float n[kVectorsPerLane][kVector] = {}, g[kVectorsPerLane][kVector] = {};
    float dot = 0;
#pragma unroll
    for (int v = 0; v < kVectorsPerLane; ++v) {
      const int column = column_of(v);
      if (row >= rows || column >= kHidden) break;
      float gains[kVector];
      load(sum + at + column, n[v]);
      load(by_normed + at + column, g[v]);
      load(gain + column, gains);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        n[v][i] *= scale;
        by_gain[v][i] += g[v][i] * n[v][i];
        g[v][i] *= gains[i];
        dot += g[v][i] * n[v][i];
      }
    }
    const float mean = row_sum(dot) / kHidden;
#pragma unroll
    for (int v = 0; v < kVectorsPerLane; ++v) {
      const int column = column_of(v);
      if (row >= rows || column >= kHidden) break;
      float direct[kVector] = {};
      if (by_sum != nullptr) load(by_sum + at + column, direct);
#pragma unroll
      for (int i = 0; i < kVector; ++i) direct[i] += scale * (g[v][i] - n[v][i] * mean);
      store(direct, by_x + at + column);
    }
  }
  __shared__ float parts[kRowsPerBlock][kHidden];
#pragma unroll
  for (int v = 0; v < kVectorsPerLane; ++v) {
    const int column = column_of(v);
    if (column >= kHidden) break;
#pragma unroll
    for (int i = 0; i < kVector; ++i) parts[threadIdx.x / kRowLanes][column + i] = by_gain[v][i];
  }
  __syncthreads();
  for (int column = threadIdx.x; column < kHidden; column += kNormThreads) {
    float total = 0;
#pragma unroll
    for (int r = 0; r < kRowsPerBlock; ++r) total += parts[r][column];
    gain_parts[static_cast<long long>(blockIdx.x) * kHidden + column] = total;
  }
}

// Computes sums [width] += the columns of parts [rows, stride], of which the first `width` count;
// the order of the additions is fixed. A block adds 32 columns.
constexpr int kColumnWarps = 32;
extern "C" __global__ void __launch_bounds__(32 * kColumnWarps)
    add_columns(const float* parts, int rows, int stride, int width, float* sums) {
  __shared__ float warps[kColumnWarps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = blockIdx.x * 32 + lane;
  float total = 0;
  if (column < width) {
#pragma unroll 4
    for (int row = warp; row < rows; row += kColumnWarps) {
      total += parts[static_cast<long long>(row) * stride + column];
    }
  }
  warps[warp][lane] = total;
  __syncthreads();
  if (warp != 0 || column >= width) return;
  total = 0;
#pragma unroll
  for (int w = 0; w < kColumnWarps; ++w) total += warps[w][lane];
  sums[column] += total;
}
