// A block a row; the row is read once and stays in registers, 16 elements a thread, for the mean,
// then the squared distances to it.
// @launch layernorm_gelu<<<rows, 32 * ceil_div(cols, 512)>>>(x, gamma, beta, y, cols)
constexpr int kEach = 16;

// `warps` has an element for each warp and is used once.
__device__ float block_sum(float value, float* warps) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  int lane = threadIdx.x % 16;
  value = lane < blockDim.x / 32 ? warps[lane] : 0.0f;
  for (int step = 8; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

__device__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

__global__ void __launch_bounds__(512)
    layernorm_gelu(const float* __restrict__ x, const float* __restrict__ gamma,
                   const float* __restrict__ beta, float* __restrict__ y, int cols) {
  __shared__ float warp_sums[16], warp_squares[16];
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  bool aligned = cols % 4 == 0;
  auto place = [&](int k) {
    return aligned ? k / 4 * 4 * blockDim.x + 4 * threadIdx.x + k % 4
                   : k * blockDim.x + threadIdx.x;
  };
  float v[kEach], sum = 0.0f, squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kEach; k += 4) {
    if (aligned) {
      float4 part = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (place(k) < cols) part = *reinterpret_cast<const float4*>(x + place(k));
      v[k] = part.x;
      v[k + 1] = part.y;
      v[k + 2] = part.z;
      v[k + 3] = part.w;
    } else {
#pragma unroll
      for (int i = k; i < k + 4; i++) v[i] = place(i) < cols ? x[place(i)] : 0.0f;
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; k++) sum += v[k];
  float mean = block_sum(sum, warp_sums) / cols;
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    v[k] -= mean;
    if (place(k) < cols) squares += v[k] * v[k];
  }
  float factor = rsqrtf(block_sum(squares, warp_squares) / cols + 1e-5f);
#pragma unroll
  for (int k = 0; k < kEach; k += 4) {
    if (aligned) {
      int j = place(k);
      if (j >= cols) continue;
      float4 g = *reinterpret_cast<const float4*>(gamma + j);
      float4 b = *reinterpret_cast<const float4*>(beta + j);
      *reinterpret_cast<float4*>(y + j) =
          make_float4(gelu(v[k] * factor * g.x + b.x), gelu(v[k + 1] * factor * g.y + b.y),
                      gelu(v[k + 2] * factor * g.z + b.z), gelu(v[k + 3] * factor * g.w + b.w));
    } else {
#pragma unroll
      for (int i = k; i < k + 4; i++) {
        int j = place(i);
        if (j < cols) y[j] = gelu(v[i] * factor * gamma[j] + beta[j]);
      }
    }
  }
}
