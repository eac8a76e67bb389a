// A block has 32 queries of a head and takes the keys and values in tiles of 32 through shared
// memory, with online softmax: a warp has four queries, a lane a key of the scores and every 32nd
// column of the output. Tiles that no query sees are skipped. The blocks with the most keys are
// started first.
// @launch attention<<<dim3(ceil_div(n, 32), heads), 256, 4 * 32 * (2 * d + (d + 1 - d % 2))>>>(q, keys, vals, out, scale, n, d)
constexpr int kQueries = 32, kKeys = 32, kEach = 4, kColumns = 4, kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    attention(const float* __restrict__ q, const float* __restrict__ keys,
              const float* __restrict__ vals, float* __restrict__ out, float scale, int n, int d) {
  extern __shared__ float shared[];
  int pitch = d + 1 - d % 2;  // odd, so that 32 keys are in 32 banks
  float* q_tile = shared;
  float* v_tile = q_tile + kQueries * d;
  float* k_tile = v_tile + kKeys * d;
  size_t head = static_cast<size_t>(blockIdx.y) * n * d;
  int first = (gridDim.x - 1 - blockIdx.x) * kQueries;
  int lane = threadIdx.x % 32, own = threadIdx.x / 32 * kEach;

  for (int i = threadIdx.x; i < kQueries * d; i += kThreads)
    q_tile[i] = first + i / d < n ? scale * q[head + first * d + i] : 0.0f;
  float top[kEach], sum[kEach], acc[kEach][kColumns] = {};
#pragma unroll
  for (int j = 0; j < kEach; j++) {
    top[j] = -INFINITY;
    sum[j] = 0.0f;
  }

  int end = min(n, first + kQueries);
  for (int left = 0; left < end; left += kKeys) {
    __syncthreads();
    for (int i = threadIdx.x; i < kKeys * d; i += kThreads) {
      bool inside = left + i / d < n;
      k_tile[i / d * pitch + i % d] = inside ? keys[head + left * d + i] : 0.0f;
      v_tile[i] = inside ? vals[head + left * d + i] : 0.0f;
    }
    __syncthreads();

    float p[kEach] = {};
    for (int e = 0; e < d; e++) {
      float key = k_tile[lane * pitch + e];
#pragma unroll
      for (int j = 0; j < kEach; j++) p[j] += q_tile[(own + j) * d + e] * key;
    }
#pragma unroll
    for (int j = 0; j < kEach; j++) {
      if (left + lane > first + own + j) p[j] = -INFINITY;
      float higher = fmaxf(top[j], p[j]);
      for (int step = 16; step > 0; step /= 2)
        higher = fmaxf(higher, __shfl_xor_sync(~0u, higher, step));
      float old = __expf(top[j] - higher);
      p[j] = __expf(p[j] - higher);
      sum[j] = sum[j] * old + p[j];  // of this lane's keys
      top[j] = higher;
#pragma unroll
      for (int c = 0; c < kColumns; c++) acc[j][c] *= old;
    }
    for (int t = 0; t < kKeys; t++) {
      float v[kColumns];
#pragma unroll
      for (int c = 0; c < kColumns; c++)
        v[c] = lane + 32 * c < d ? v_tile[t * d + lane + 32 * c] : 0.0f;
#pragma unroll
      for (int j = 0; j < kEach; j++) {
        float w = __shfl_sync(~0u, p[j], t);
#pragma unroll
        for (int c = 0; c < kColumns; c++) acc[j][c] += w * v[c];
      }
    }
  }

#pragma unroll
  for (int j = 0; j < kEach; j++) {
    for (int step = 16; step > 0; step /= 2) sum[j] += __shfl_xor_sync(~0u, sum[j], step);
    int i = first + own + j;
    if (i >= n) continue;
#pragma unroll
    for (int c = 0; c < kColumns; c++)
      if (lane + 32 * c < d)
        out[head + static_cast<size_t>(i) * d + lane + 32 * c] = acc[j][c] / sum[j];
  }
}
