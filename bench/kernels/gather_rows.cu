// A block copies up to 4096 elements of a row, four float4 in flight a thread.
// @launch gather_rows<<<dim3(rows, ceil_div(cols, 4096)), min(256, 32 * ceil_div(cols, 128))>>>(x, order, y, cols)
__global__ void __launch_bounds__(256) gather_rows(const float* __restrict__ x,
                                                   const int* __restrict__ order,
                                                   float* __restrict__ y, int cols) {
  int first = blockIdx.y * 4096, end = min(cols, first + 4096);
  const float* from = x + static_cast<size_t>(order[blockIdx.x]) * cols;
  float* to = y + static_cast<size_t>(blockIdx.x) * cols;
  if (cols % 4 == 0) {
    auto from4 = reinterpret_cast<const float4*>(from);
    auto to4 = reinterpret_cast<float4*>(to);
#pragma unroll 4
    for (int j = first / 4 + threadIdx.x; j < end / 4; j += blockDim.x) to4[j] = from4[j];
  } else {
#pragma unroll 4
    for (int j = first + threadIdx.x; j < end; j += blockDim.x) to[j] = from[j];
  }
}
