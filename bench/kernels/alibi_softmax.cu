// A block a row; its visible part is read once and stays in registers, 16 elements a thread; the
// hidden part is not read at all.
// @launch alibi_softmax<<<dim3(n, heads), 32 * ceil_div(n, 512)>>>(s, slope, y, n)
constexpr int kEach = 16, kMostWarps = 8;

template <class Combine>
__device__ float block_reduce(float value, float neutral, float* warps, Combine combine) {
  for (int step = 16; step > 0; step /= 2)
    value = combine(value, __shfl_xor_sync(~0u, value, step));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  int lane = threadIdx.x % kMostWarps;
  value = lane < blockDim.x / 32 ? warps[lane] : neutral;
  for (int step = kMostWarps / 2; step > 0; step /= 2)
    value = combine(value, __shfl_xor_sync(~0u, value, step));
  return value;
}

__global__ void __launch_bounds__(32 * kMostWarps)
    alibi_softmax(const float* __restrict__ s, const float* __restrict__ slope,
                  float* __restrict__ y, int n) {
  __shared__ float tops[kMostWarps], sums[kMostWarps];
  int i = blockIdx.x;
  float bias = slope[blockIdx.y];
  const float* row = s + (static_cast<size_t>(blockIdx.y) * n + i) * n;
  float* out = y + (static_cast<size_t>(blockIdx.y) * n + i) * n;
  bool aligned = n % 4 == 0;
  auto place = [&](int k) {
    return aligned ? k / 4 * 4 * blockDim.x + 4 * threadIdx.x + k % 4
                   : k * blockDim.x + threadIdx.x;
  };
  float v[kEach];
#pragma unroll
  for (int k = 0; k < kEach; k += 4) {
    if (aligned) {
      float4 part = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (place(k) <= i) part = *reinterpret_cast<const float4*>(row + place(k));
      v[k] = part.x;
      v[k + 1] = part.y;
      v[k + 2] = part.z;
      v[k + 3] = part.w;
    } else {
#pragma unroll
      for (int e = k; e < k + 4; e++) v[e] = place(e) <= i ? row[place(e)] : 0.0f;
    }
  }
  float top = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    v[k] = place(k) <= i ? v[k] - bias * (i - place(k)) : -INFINITY;
    top = fmaxf(top, v[k]);
  }
  top = block_reduce(top, -INFINITY, tops, [](float a, float b) { return fmaxf(a, b); });
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    v[k] = __expf(v[k] - top);
    sum += v[k];
  }
  float factor = 1.0f / block_reduce(sum, 0.0f, sums, [](float a, float b) { return a + b; });
#pragma unroll
  for (int k = 0; k < kEach; k += 4) {
    if (aligned) {
      if (place(k) < n)
        *reinterpret_cast<float4*>(out + place(k)) =
            make_float4(v[k] * factor, v[k + 1] * factor, v[k + 2] * factor, v[k + 3] * factor);
    } else {
#pragma unroll
      for (int e = k; e < k + 4; e++)
        if (place(e) < n) out[place(e)] = v[e] * factor;
    }
  }
}
