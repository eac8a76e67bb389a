// A block a row, eight float4 in flight a thread; then the maximum of the warp and of the warps.
// @launch row_max<<<m, min(256, 32 * ceil_div(n, 128))>>>(src, dst, n)
__device__ float warp_max(float value) {
  for (int step = 16; step > 0; step /= 2)
    value = fmaxf(value, __shfl_down_sync(~0u, value, step));
  return value;
}

__global__ void __launch_bounds__(256) row_max(const float* __restrict__ src,
                                               float* __restrict__ dst, int n) {
  const float* row = src + static_cast<size_t>(blockIdx.x) * n;
  float top = -INFINITY;
  if (n % 4 == 0) {
    auto row4 = reinterpret_cast<const float4*>(row);
#pragma unroll 8
    for (int j = threadIdx.x; j < n / 4; j += blockDim.x) {
      float4 v = row4[j];
      top = fmaxf(top, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
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
