// A block a row in three passes, as it is defined; the second and third mostly find the rows in the
// caches. Each reduction is of two values at once.
// @launch kl_rows<<<rows, min(512, 32 * ceil_div(cols, 64))>>>(a, b, kl, cols)
constexpr int kMostWarps = 16;

template <class Combine>
__device__ float2 block_reduce(float2 value, float2 (&warps)[kMostWarps], float neutral,
                               Combine combine) {
  for (int step = 16; step > 0; step /= 2) {
    value.x = combine(value.x, __shfl_xor_sync(~0u, value.x, step));
    value.y = combine(value.y, __shfl_xor_sync(~0u, value.y, step));
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  int lane = threadIdx.x % kMostWarps;
  value = lane < blockDim.x / 32 ? warps[lane] : make_float2(neutral, neutral);
  for (int step = kMostWarps / 2; step > 0; step /= 2) {
    value.x = combine(value.x, __shfl_xor_sync(~0u, value.x, step));
    value.y = combine(value.y, __shfl_xor_sync(~0u, value.y, step));
  }
  return value;
}

__global__ void __launch_bounds__(32 * kMostWarps)
    kl_rows(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ kl,
            int cols) {
  __shared__ float2 tops[kMostWarps], sums[kMostWarps], parts[kMostWarps];
  auto add = [](float u, float v) { return u + v; };
  a += static_cast<size_t>(blockIdx.x) * cols;
  b += static_cast<size_t>(blockIdx.x) * cols;
  float2 top = make_float2(-INFINITY, -INFINITY);
#pragma unroll 4
  for (int j = threadIdx.x; j < cols; j += blockDim.x)
    top = make_float2(fmaxf(top.x, a[j]), fmaxf(top.y, b[j]));
  top = block_reduce(top, tops, -INFINITY, [](float u, float v) { return fmaxf(u, v); });
  float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll 4
  for (int j = threadIdx.x; j < cols; j += blockDim.x) {
    sum.x += __expf(a[j] - top.x);
    sum.y += __expf(b[j] - top.y);
  }
  sum = block_reduce(sum, sums, 0.0f, add);
  float log_a = top.x + logf(sum.x), log_b = top.y + logf(sum.y);
  float2 total = make_float2(0.0f, 0.0f);
#pragma unroll 4
  for (int j = threadIdx.x; j < cols; j += blockDim.x) {
    float p = a[j] - log_a;
    total.x += __expf(p) * (p - (b[j] - log_b));
  }
  total = block_reduce(total, parts, 0.0f, add);
  if (threadIdx.x == 0) kl[blockIdx.x] = total.x;
}
