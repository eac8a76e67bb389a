// A block a row; the exponentials stay in registers, 16 elements a thread. The capped values lie
// between -cap and cap, so cap itself serves as the maximum, and one reduction is enough.
// @launch softcap_softmax<<<rows, 32 * ceil_div(cols, 512)>>>(x, y, cap, cols)
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

// exp(cap * (tanh(x / cap) - 1)), with tanh(u) - 1 = -2 / (exp(2 u) + 1).
__device__ float exp_of_capped(float x, float cap, float twice_inverse) {
  return __expf(__fdividef(-2.0f * cap, __expf(fminf(x * twice_inverse, 80.0f)) + 1.0f));
}

__global__ void __launch_bounds__(512)
    softcap_softmax(const float* __restrict__ x, float* __restrict__ y, float cap, int cols) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float* out = y + static_cast<size_t>(blockIdx.x) * cols;
  bool aligned = cols % 4 == 0;
  float twice_inverse = 2.0f / cap, v[kEach], sum = 0.0f;
  auto place = [&](int k) {
    return aligned ? k / 4 * 4 * blockDim.x + 4 * threadIdx.x + k % 4
                   : k * blockDim.x + threadIdx.x;
  };
#pragma unroll
  for (int k = 0; k < kEach; k += 4) {
    if (aligned) {
      float4 part = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (place(k) < cols) part = *reinterpret_cast<const float4*>(row + place(k));
      v[k] = part.x;
      v[k + 1] = part.y;
      v[k + 2] = part.z;
      v[k + 3] = part.w;
    } else {
#pragma unroll
      for (int e = k; e < k + 4; e++) v[e] = place(e) < cols ? row[place(e)] : 0.0f;
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    v[k] = place(k) < cols ? exp_of_capped(v[k], cap, twice_inverse) : 0.0f;
    sum += v[k];
  }
  float factor = 1.0f / block_sum(sum);
#pragma unroll
  for (int k = 0; k < kEach; k += 4) {
    if (aligned) {
      if (place(k) < cols)
        *reinterpret_cast<float4*>(out + place(k)) =
            make_float4(v[k] * factor, v[k + 1] * factor, v[k + 2] * factor, v[k + 3] * factor);
    } else {
#pragma unroll
      for (int e = k; e < k + 4; e++)
        if (place(e) < cols) out[place(e)] = v[e] * factor;
    }
  }
}
