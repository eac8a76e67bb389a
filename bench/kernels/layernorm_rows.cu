// A block a row; the row is read once and stays in registers, 16 elements a thread, for the mean,
// then the squared distances to it.
// @launch layernorm_rows<<<rows, 32 * ceil_div(cols, 512)>>>(x, gamma, beta, y, cols)
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

__global__ void __launch_bounds__(512, 2)
    layernorm_rows(const float* __restrict__ x, const float* __restrict__ gamma,
                   const float* __restrict__ beta, float* __restrict__ y, int cols) {
  __shared__ float warp_sums[16], warp_squares[16];
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float* to = y + static_cast<size_t>(blockIdx.x) * cols;
  bool aligned = cols % 4 == 0;
  float v[kEach];
  if (aligned) {
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      int j = k * blockDim.x + 4 * threadIdx.x;
      float4 part = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (j < cols) part = *reinterpret_cast<const float4*>(row + j);
      v[k] = part.x;
      v[k + 1] = part.y;
      v[k + 2] = part.z;
      v[k + 3] = part.w;
    }
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      int j = k * blockDim.x + threadIdx.x;
      v[k] = j < cols ? row[j] : 0.0f;
    }
  }

  float sum = 0.0f, squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kEach; k++) sum += v[k];
  float mean = block_sum(sum, warp_sums) / cols;
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int j = aligned ? k / 4 * 4 * blockDim.x + 4 * threadIdx.x : k * blockDim.x + threadIdx.x;
    v[k] -= mean;
    if (j < cols) squares += v[k] * v[k];
  }
  float factor = rsqrtf(block_sum(squares, warp_squares) / cols + 1e-5f);

  if (aligned) {
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      int j = k * blockDim.x + 4 * threadIdx.x;
      if (j < cols) {
        float4 g = *reinterpret_cast<const float4*>(gamma + j);
        float4 b = *reinterpret_cast<const float4*>(beta + j);
        *reinterpret_cast<float4*>(to + j) =
            make_float4(v[k] * factor * g.x + b.x, v[k + 1] * factor * g.y + b.y,
                        v[k + 2] * factor * g.z + b.z, v[k + 3] * factor * g.w + b.w);
      }
    }
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      int j = k * blockDim.x + threadIdx.x;
      if (j < cols) to[j] = v[k] * factor * gamma[j] + beta[j];
    }
  }
}
