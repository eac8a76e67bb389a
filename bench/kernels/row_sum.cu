// A block a row, eight float4 in flight a thread; then a sum over the warp and over the warps.
// @launch row_sum<<<rows, min(256, 32 * ceil_div(cols, 128))>>>(x, y, cols)
constexpr int kBatch = 8;

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return value;
}

__global__ void __launch_bounds__(256)
    row_sum(const float* __restrict__ x, float* __restrict__ y, int cols) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  if (cols % 4 == 0) {
    auto row4 = reinterpret_cast<const float4*>(row);
    for (int first = threadIdx.x; first < cols / 4; first += kBatch * blockDim.x) {
      float4 v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        int j = first + k * blockDim.x;
        v[k] = j < cols / 4 ? row4[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      }
#pragma unroll
      for (int k = 0; k < kBatch; k++) sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
  } else {
#pragma unroll 8
    for (int j = threadIdx.x; j < cols; j += blockDim.x) sum += row[j];
  }
  __shared__ float warps[8];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_sum(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
