// A block a row, four float4 of either matrix in flight a thread; then a sum over the warp and over
// the warps.
// @launch huber<<<rows, min(256, 32 * ceil_div(cols, 128))>>>(x, target, loss, delta, cols)
constexpr int kBatch = 4;

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return value;
}

// With m = min(|v|, delta), both branches are m * (|v| - m / 2).
__device__ float huber_of(float x, float target, float delta) {
  float v = fabsf(x - target), m = fminf(v, delta);
  return m * (v - 0.5f * m);
}

__global__ void __launch_bounds__(256)
    huber(const float* __restrict__ x, const float* __restrict__ target, float* __restrict__ loss,
          float delta, int cols) {
  __shared__ float warps[8];
  size_t first = static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  if (cols % 4 == 0) {
    auto x4 = reinterpret_cast<const float4*>(x + first);
    auto t4 = reinterpret_cast<const float4*>(target + first);
    for (int i = threadIdx.x; i < cols / 4; i += kBatch * blockDim.x) {
      float4 u[kBatch], v[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; k++) {
        int j = i + k * blockDim.x;
        bool inside = j < cols / 4;
        u[k] = inside ? x4[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        v[k] = inside ? t4[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      }
#pragma unroll
      for (int k = 0; k < kBatch; k++)
        sum += (huber_of(u[k].x, v[k].x, delta) + huber_of(u[k].y, v[k].y, delta)) +
               (huber_of(u[k].z, v[k].z, delta) + huber_of(u[k].w, v[k].w, delta));
    }
  } else {
#pragma unroll 8
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
      sum += huber_of(x[first + j], target[first + j], delta);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_sum(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) loss[blockIdx.x] = sum / cols;
}
