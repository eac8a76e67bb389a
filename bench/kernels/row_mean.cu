// A block a row, eight float4 in flight a thread; then the mean over the warp and over the warps.
// @launch row_mean<<<h, min(256, 32 * ceil_div(w, 128))>>>(data, out, w)
constexpr int kBatch = 8;

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return value;
}

__global__ void __launch_bounds__(256)
    row_mean(const float* __restrict__ data, float* __restrict__ out, int w) {
  const float* row = data + static_cast<size_t>(blockIdx.x) * w;
  float sum = 0.0f;
  if (w % 4 == 0) {
    auto row4 = reinterpret_cast<const float4*>(row);
    for (int first = threadIdx.x; first < w / 4; first += kBatch * blockDim.x) {
      float4 v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        int j = first + k * blockDim.x;
        v[k] = j < w / 4 ? row4[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      }
#pragma unroll
      for (int k = 0; k < kBatch; k++) sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
  } else {
#pragma unroll 8
    for (int j = threadIdx.x; j < w; j += blockDim.x) sum += row[j];
  }
  __shared__ float warps[8];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_sum(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) out[blockIdx.x] = sum / w;
}
