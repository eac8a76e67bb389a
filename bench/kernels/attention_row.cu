// Blocks take 256 rows each, in one pass with an online softmax: a warp has the keys and the values
// of several rows in flight and keeps their weighted sum in registers. The warps' sums are merged in
// shared memory, the blocks' by a second kernel.
// @scratch tops float[ceil_div(n, 256)]
// @scratch sums float[tops.size]
// @scratch parts float[tops.size * d]
// @launch attend_block<<<tops.size, 256>>>(q, keys, vals, tops, sums, parts, scale, n, d)
// @launch merge<<<ceil_div(d, 32), 1024>>>(tops, sums, parts, out, tops.size, d)
constexpr int kWarps = 8, kBlockRows = 256, kMostColumns = 256;

// Column k of a lane: fours of neighbours, or every 32nd column of unaligned rows.
template <bool kAligned>
__device__ int column(int k) {
  int lane = threadIdx.x % 32;
  return kAligned ? k / 4 * 128 + 4 * lane + k % 4 : 32 * k + lane;
}

template <bool kAligned, int kColumns>
__device__ void load(const float* __restrict__ row, bool inside, int d, float (&v)[kColumns]) {
  if (kAligned) {
#pragma unroll
    for (int k = 0; k < kColumns; k += 4) {
      int c = column<true>(k);
      float4 part = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (inside && c < d) part = *reinterpret_cast<const float4*>(row + c);
      v[k] = part.x;
      v[k + 1] = part.y;
      v[k + 2] = part.z;
      v[k + 3] = part.w;
    }
  } else {
#pragma unroll
    for (int k = 0; k < kColumns; k++) {
      int c = column<false>(k);
      v[k] = inside && c < d ? row[c] : 0.0f;
    }
  }
}

// The sum of exp(score - top), and of the values weighted by it.
struct Weighted {
  float top[kWarps], sum[kWarps], values[kWarps][kMostColumns];
};

template <bool kAligned, int kColumns, int kRows>
__device__ void attend(const float* __restrict__ q, const float* __restrict__ keys,
                       const float* __restrict__ vals, float scale, int n, int d, Weighted& out) {
  int warp = threadIdx.x / 32, first = blockIdx.x * kBlockRows, end = min(n, first + kBlockRows);
  float query[kColumns], values[kColumns] = {}, top = -INFINITY, sum = 0.0f;
  load<kAligned>(q, true, d, query);
  for (int t = first + warp * kRows; t < end; t += kWarps * kRows) {
    float key[kRows][kColumns], value[kRows][kColumns], score[kRows];
#pragma unroll
    for (int r = 0; r < kRows; r++) load<kAligned>(keys + (t + r) * d, t + r < end, d, key[r]);
#pragma unroll
    for (int r = 0; r < kRows; r++) load<kAligned>(vals + (t + r) * d, t + r < end, d, value[r]);
    float greater = top;
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      score[r] = 0.0f;
#pragma unroll
      for (int k = 0; k < kColumns; k++) score[r] += query[k] * key[r][k];
#pragma unroll
      for (int step = 16; step > 0; step /= 2)
        score[r] += __shfl_xor_sync(~0u, score[r], step);
      score[r] = t + r < end ? score[r] * scale : -INFINITY;
      greater = fmaxf(greater, score[r]);
    }
    float shrink = __expf(top - greater);
    top = greater;
    sum *= shrink;
#pragma unroll
    for (int k = 0; k < kColumns; k++) values[k] *= shrink;
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      float weight = __expf(score[r] - top);
      sum += weight;
#pragma unroll
      for (int k = 0; k < kColumns; k++) values[k] += weight * value[r][k];
    }
  }
#pragma unroll
  for (int k = 0; k < kColumns; k++) out.values[warp][column<kAligned>(k)] = values[k];
  if (threadIdx.x % 32 == 0) {
    out.top[warp] = top;
    out.sum[warp] = sum;
  }
}

__global__ void __launch_bounds__(256, 2)
    attend_block(const float* __restrict__ q, const float* __restrict__ keys,
                 const float* __restrict__ vals, float* __restrict__ tops,
                 float* __restrict__ sums, float* __restrict__ parts, float scale, int n, int d) {
  __shared__ Weighted warps;
  if (d % 4 == 0 && d <= 128) attend<true, 4, 8>(q, keys, vals, scale, n, d, warps);
  else if (d % 4 == 0) attend<true, 8, 4>(q, keys, vals, scale, n, d, warps);
  else attend<false, 8, 4>(q, keys, vals, scale, n, d, warps);
  __syncthreads();

  float top = -INFINITY, sum = 0.0f, value = 0.0f;
#pragma unroll
  for (int w = 0; w < kWarps; w++) top = fmaxf(top, warps.top[w]);
#pragma unroll
  for (int w = 0; w < kWarps; w++) {
    float weight = __expf(warps.top[w] - top);
    sum += weight * warps.sum[w];
    if (threadIdx.x < d) value += weight * warps.values[w][threadIdx.x];
  }
  if (threadIdx.x < d) parts[blockIdx.x * d + threadIdx.x] = value;
  if (threadIdx.x == 0) {
    tops[blockIdx.x] = top;
    sums[blockIdx.x] = sum;
  }
}

// A lane has a column, a warp every 32nd part.
__global__ void __launch_bounds__(1024)
    merge(const float* __restrict__ tops, const float* __restrict__ sums,
          const float* __restrict__ parts, float* __restrict__ out, int count, int d) {
  __shared__ float warp_sums[32], warp_values[32][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, c = blockIdx.x * 32 + lane;
  float top = -INFINITY, sum = 0.0f, value = 0.0f;
  for (int i = lane; i < count; i += 32) top = fmaxf(top, tops[i]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
#pragma unroll 4
  for (int i = warp; i < count; i += 32) {
    float weight = __expf(tops[i] - top);
    sum += weight * sums[i];
    if (c < d) value += weight * parts[i * d + c];
  }
  if (lane == 0) warp_sums[warp] = sum;
  warp_values[warp][lane] = value;
  __syncthreads();
  if (warp > 0 || c >= d) return;
  sum = value = 0.0f;
  for (int w = 0; w < 32; w++) {
    sum += warp_sums[w];
    value += warp_values[w][lane];
  }
  out[c] = value / sum;
}
