// A block a row, eight float4 in flight a thread; then the maximum of the warp and of the warps.
// @launch row_max<<<m, min(256, 32 * ceil_div(n, 128))>>>(src, dst, n)
constexpr int kBatch = 8;

__device__ float warp_max(float value) {
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_down_sync(~0u, value, step));
  return value;
}

__global__ void __launch_bounds__(256)
    row_max(const float* __restrict__ src, float* __restrict__ dst, int n) {
  const float* row = src + static_cast<size_t>(blockIdx.x) * n;
  float top = -INFINITY;
  if (n % 4 == 0) {
    auto row4 = reinterpret_cast<const float4*>(row);
    for (int first = threadIdx.x; first < n / 4; first += kBatch * blockDim.x) {
      float4 v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        int j = first + k * blockDim.x;
        v[k] = j < n / 4 ? row4[j] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
      }
#pragma unroll
      for (int k = 0; k < kBatch; k++)
        top = fmaxf(top, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
    }
  } else {
#pragma unroll 8
    for (int j = threadIdx.x; j < n; j += blockDim.x) top = fmaxf(top, row[j]);
  }
  __shared__ float warps[8];
  top = warp_max(top);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = top;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  top = warp_max(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : -INFINITY);
  if (threadIdx.x == 0) dst[blockIdx.x] = top;
}
