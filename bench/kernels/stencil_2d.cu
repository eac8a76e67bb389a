// A block takes 1024 columns of eight rows. A thread loads its four columns of ten rows at once;
// left and right come from the neighbouring lanes, and at the ends of the warp from memory.
// @launch stencil_2d<<<dim3(ceil_div(cols, 1024), ceil_div(rows, 8)), min(256, 32 * ceil_div(cols, 128))>>>(x, y, rows, cols)
constexpr int kRows = 8, kCols = 1024;

// Rows first to end - 1 of four columns from c on; cols % 4 is 0, and c may be beyond them.
__device__ void four_columns(const float* __restrict__ x, float* __restrict__ y, int first, int end,
                             int c, int rows, int cols) {
  int lane = threadIdx.x % 32;
  float4 v[kRows + 2];
  float edge[kRows];
#pragma unroll
  for (int k = 0; k < kRows + 2; k++) {
    int r = first + k - 1;
    v[k] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (r >= 0 && r < rows && c < cols) v[k] = *reinterpret_cast<const float4*>(x + r * cols + c);
  }
#pragma unroll
  for (int k = 0; k < kRows; k++) {
    int r = first + k;
    edge[k] = 0.0f;
    if (r < end && lane == 0 && c > 0 && c < cols) edge[k] = x[r * cols + c - 1];
    if (r < end && lane == 31 && c + 4 < cols) edge[k] = x[r * cols + c + 4];
  }
#pragma unroll
  for (int k = 0; k < kRows; k++) {
    float4 up = v[k], at = v[k + 1], down = v[k + 2];
    float left = __shfl_up_sync(~0u, at.w, 1), right = __shfl_down_sync(~0u, at.x, 1);
    if (lane == 0) left = edge[k];
    if (lane == 31) right = edge[k];
    if (first + k < end && c < cols)
      *reinterpret_cast<float4*>(y + (first + k) * cols + c) =
          make_float4(up.x + down.x + left + at.y - 4.0f * at.x,
                      up.y + down.y + at.x + at.z - 4.0f * at.y,
                      up.z + down.z + at.y + at.w - 4.0f * at.z,
                      up.w + down.w + at.z + right - 4.0f * at.w);
  }
}

__device__ void one_column(const float* __restrict__ x, float* __restrict__ y, int first, int end,
                           int c, int rows, int cols) {
  float up = first > 0 ? x[(first - 1) * cols + c] : 0.0f, at = x[first * cols + c];
#pragma unroll 4
  for (int r = first; r < end; r++) {
    float down = r + 1 < rows ? x[(r + 1) * cols + c] : 0.0f;
    float left = c > 0 ? x[r * cols + c - 1] : 0.0f;
    float right = c + 1 < cols ? x[r * cols + c + 1] : 0.0f;
    y[r * cols + c] = up + down + left + right - 4.0f * at;
    up = at;
    at = down;
  }
}

__global__ void __launch_bounds__(256) stencil_2d(const float* __restrict__ x,
                                                  float* __restrict__ y, int rows, int cols) {
  int first = blockIdx.y * kRows, end = min(rows, first + kRows), left = blockIdx.x * kCols;
  if (cols % 4 == 0) {
    four_columns(x, y, first, end, left + 4 * threadIdx.x, rows, cols);
  } else {
    for (int c = left + threadIdx.x; c < min(cols, left + kCols); c += blockDim.x)
      one_column(x, y, first, end, c, rows, cols);
  }
}
