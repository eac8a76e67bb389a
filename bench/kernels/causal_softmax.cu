// A block a row; its visible part is read once and stays in registers, 16 elements a thread.
// @launch causal_softmax<<<n, 32 * ceil_div(n, 512)>>>(x, y, n)
constexpr int kEach = 16;

__device__ float block_max(float value) {
  __shared__ float warps[16];
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  int lane = threadIdx.x % 16;
  value = lane < blockDim.x / 32 ? warps[lane] : -INFINITY;
  for (int step = 8; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
  return value;
}

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
    causal_softmax(const float* __restrict__ x, float* __restrict__ y, int n) {
  int r = blockIdx.x;
  const float* row = x + static_cast<size_t>(r) * n;
  float* out = y + static_cast<size_t>(r) * n;
  bool aligned = n % 4 == 0;
  float v[kEach];
  if (aligned) {
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      int j = k * blockDim.x + 4 * threadIdx.x;
      float4 part = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
      if (j <= r) part = *reinterpret_cast<const float4*>(row + j);
      v[k] = part.x;
      v[k + 1] = j + 1 <= r ? part.y : -INFINITY;
      v[k + 2] = j + 2 <= r ? part.z : -INFINITY;
      v[k + 3] = j + 3 <= r ? part.w : -INFINITY;
    }
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      int j = k * blockDim.x + threadIdx.x;
      v[k] = j <= r ? row[j] : -INFINITY;
    }
  }

  float top = v[0], sum = 0.0f;
#pragma unroll
  for (int k = 1; k < kEach; k++) top = fmaxf(top, v[k]);
  top = block_max(top);
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    v[k] = __expf(v[k] - top);
    sum += v[k];
  }
  float factor = 1.0f / block_sum(sum);

  if (aligned) {
#pragma unroll
    for (int k = 0; k < kEach; k += 4) {
      int j = k * blockDim.x + 4 * threadIdx.x;
      if (j < n)
        *reinterpret_cast<float4*>(out + j) =
            make_float4(v[k] * factor, v[k + 1] * factor, v[k + 2] * factor, v[k + 3] * factor);
    }
  } else {
#pragma unroll
    for (int k = 0; k < kEach; k++) {
      int j = k * blockDim.x + threadIdx.x;
      if (j < n) out[j] = v[k] * factor;
    }
  }
}
