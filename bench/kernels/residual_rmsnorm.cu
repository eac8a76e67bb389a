// A block a row; the sums are stored at once and stay in registers, 16 elements a thread, until the
// factor is known.
// @launch residual_rmsnorm<<<rows, 32 * ceil_div(cols, 512)>>>(x, res, gamma, y, cols)
constexpr int kEach = 16;

__device__ float block_sum(float value) {
  __shared__ float warps[16];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  int lane = threadIdx.x % 16;
  value = lane < blockDim.x / 32 ? warps[lane] : 0.0f;
  for (int step = 8; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__global__ void __launch_bounds__(512)
    residual_rmsnorm(const float* __restrict__ x, float* __restrict__ res,
                     const float* __restrict__ gamma, float* __restrict__ y, int cols) {
  size_t first = static_cast<size_t>(blockIdx.x) * cols;
  x += first;
  res += first;
  y += first;
  bool aligned = cols % 4 == 0;
  float v[kEach], squares = 0.0f;
  if (aligned) {
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      int j = k * blockDim.x + 4 * threadIdx.x;
      float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (j < cols) {
        float4 u = *reinterpret_cast<const float4*>(x + j);
        float4 r = *reinterpret_cast<const float4*>(res + j);
        sum = make_float4(u.x + r.x, u.y + r.y, u.z + r.z, u.w + r.w);
        *reinterpret_cast<float4*>(res + j) = sum;
      }
      v[k] = sum.x;
      v[k + 1] = sum.y;
      v[k + 2] = sum.z;
      v[k + 3] = sum.w;
    }
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      int j = k * blockDim.x + threadIdx.x;
      v[k] = j < cols ? x[j] + res[j] : 0.0f;
      if (j < cols) res[j] = v[k];
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; k++) squares += v[k] * v[k];
  float factor = rsqrtf(block_sum(squares) / cols + 1e-5f);
  if (aligned) {
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      int j = k * blockDim.x + 4 * threadIdx.x;
      if (j >= cols) continue;
      float4 g = *reinterpret_cast<const float4*>(gamma + j);
      *reinterpret_cast<float4*>(y + j) =
          make_float4(v[k] * factor * g.x, v[k + 1] * factor * g.y, v[k + 2] * factor * g.z,
                      v[k + 3] * factor * g.w);
    }
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      int j = k * blockDim.x + threadIdx.x;
      if (j < cols) y[j] = v[k] * factor * gamma[j];
    }
  }
}
