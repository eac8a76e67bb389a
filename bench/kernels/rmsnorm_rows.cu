// A block a row; the row is read once and stays in registers, 16 elements a thread.
// @launch rmsnorm_rows<<<R, 32 * ceil_div(C, 512)>>>(inp, out, C)
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

__global__ void __launch_bounds__(512, 3)
    rmsnorm_rows(const float* __restrict__ inp, float* __restrict__ out, int C) {
  const float* row = inp + static_cast<size_t>(blockIdx.x) * C;
  float* to = out + static_cast<size_t>(blockIdx.x) * C;
  bool aligned = C % 4 == 0;
  float v[kEach];
  if (aligned) {
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      int j = k * blockDim.x + 4 * threadIdx.x;
      float4 part = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (j < C) part = *reinterpret_cast<const float4*>(row + j);
      v[k] = part.x;
      v[k + 1] = part.y;
      v[k + 2] = part.z;
      v[k + 3] = part.w;
    }
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      int j = k * blockDim.x + threadIdx.x;
      v[k] = j < C ? row[j] : 0.0f;
    }
  }

  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kEach; k++) squares += v[k] * v[k];
  float factor = rsqrtf(block_sum(squares) / C + 1e-5f);

  if (aligned) {
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      int j = k * blockDim.x + 4 * threadIdx.x;
      if (j < C)
        *reinterpret_cast<float4*>(to + j) =
            make_float4(v[k] * factor, v[k + 1] * factor, v[k + 2] * factor, v[k + 3] * factor);
    }
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      int j = k * blockDim.x + threadIdx.x;
      if (j < C) to[j] = v[k] * factor;
    }
  }
}
