// A warp a row, the row in registers: a bitonic network whose element i of lane l is the element
// 32 i + l, so that long strides swap registers of a lane and short ones are shuffles. Short rows
// take a short network.
// @launch sort_rows<<<ceil_div(rows, 4), 128>>>(x, y, rows, cols)
template <int kEach>
__device__ void sort(const float* __restrict__ row, float* __restrict__ out, int cols) {
  int lane = threadIdx.x % 32;
  float v[kEach];
#pragma unroll
  for (int i = 0; i < kEach; i++) v[i] = 32 * i + lane < cols ? row[32 * i + lane] : INFINITY;
#pragma unroll
  for (int size = 2; size <= 32 * kEach; size *= 2) {
#pragma unroll
    for (int stride = size / 2; stride >= 32; stride /= 2) {
#pragma unroll
      for (int i = 0; i < kEach; i++) {
        int other = i ^ (stride / 32);
        if (other < i) continue;
        float low = fminf(v[i], v[other]), high = fmaxf(v[i], v[other]);
        bool ascending = (32 * i & size) == 0;
        v[i] = ascending ? low : high;
        v[other] = ascending ? high : low;
      }
    }
#pragma unroll
    for (int stride = min(size / 2, 16); stride > 0; stride /= 2) {
#pragma unroll
      for (int i = 0; i < kEach; i++) {
        float other = __shfl_xor_sync(~0u, v[i], stride);
        bool ascending = ((32 * i + lane) & size) == 0, lower = (lane & stride) == 0;
        v[i] = ascending == lower ? fminf(v[i], other) : fmaxf(v[i], other);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kEach; i++)
    if (32 * i + lane < cols) out[32 * i + lane] = v[i];
}

__global__ void __launch_bounds__(128)
    sort_rows(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32;
  if (r >= rows) return;
  const float* row = x + static_cast<size_t>(r) * cols;
  float* out = y + static_cast<size_t>(r) * cols;
  if (cols <= 32) {
    sort<1>(row, out, cols);
  } else if (cols <= 128) {
    sort<4>(row, out, cols);
  } else if (cols <= 256) {
    sort<8>(row, out, cols);
  } else {
    sort<32>(row, out, cols);
  }
}
