// A block copies up to 4096 elements of a row, four float4 in flight a thread.
// @launch gather_rows<<<dim3(rows, ceil_div(cols, 4096)), 256>>>(x, order, y, cols)
constexpr int kThreads = 256, kBatch = 4, kPart = 4 * kBatch * kThreads;

__global__ void __launch_bounds__(kThreads)
    gather_rows(const float* __restrict__ x, const int* __restrict__ order, float* __restrict__ y,
                int cols) {
  int first = blockIdx.y * kPart, end = min(cols, first + kPart);
  const float* from = x + static_cast<size_t>(order[blockIdx.x]) * cols;
  float* to = y + static_cast<size_t>(blockIdx.x) * cols;
  if (cols % 4 == 0) {
    auto from4 = reinterpret_cast<const float4*>(from);
    auto to4 = reinterpret_cast<float4*>(to);
    float4 v[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      int j = first / 4 + k * kThreads + threadIdx.x;
      if (j < end / 4) v[k] = from4[j];
    }
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      int j = first / 4 + k * kThreads + threadIdx.x;
      if (j < end / 4) to4[j] = v[k];
    }
  } else {
#pragma unroll 4
    for (int j = first + threadIdx.x; j < end; j += kThreads) to[j] = from[j];
  }
}
