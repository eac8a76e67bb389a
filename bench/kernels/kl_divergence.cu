// One pass over the data: with m the maxima, kl = sum(exp(a - m_a) * (a - b)) / sum(exp(a - m_a))
// - (m_a + log(sum(exp(a - m_a)))) + (m_b + log(sum(exp(b - m_b)))), of sums that are rescaled
// when a maximum grows. A block a row; threads, then warps, merge theirs.
// @launch kl_rows<<<rows, min(256, 32 * ceil_div(cols, 128))>>>(a, b, kl, cols)
constexpr int kBatch = 8;

struct State {
  float top_a = -INFINITY, sum_a = 0.0f, weighted = 0.0f, top_b = -INFINITY, sum_b = 0.0f;

  __device__ void merge(const State& other) {
    float top = fmaxf(top_a, other.top_a);
    if (top > -INFINITY) {
      float own = __expf(top_a - top), its = __expf(other.top_a - top);
      sum_a = sum_a * own + other.sum_a * its;
      weighted = weighted * own + other.weighted * its;
      top_a = top;
    }
    top = fmaxf(top_b, other.top_b);
    if (top > -INFINITY) {
      sum_b = sum_b * __expf(top_b - top) + other.sum_b * __expf(other.top_b - top);
      top_b = top;
    }
  }
  __device__ void merge_warp() {
    for (int step = 16; step > 0; step /= 2) {
      State other;
      other.top_a = __shfl_xor_sync(~0u, top_a, step);
      other.sum_a = __shfl_xor_sync(~0u, sum_a, step);
      other.weighted = __shfl_xor_sync(~0u, weighted, step);
      other.top_b = __shfl_xor_sync(~0u, top_b, step);
      other.sum_b = __shfl_xor_sync(~0u, sum_b, step);
      merge(other);
    }
  }
};

__global__ void __launch_bounds__(256)
    kl_rows(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ kl,
            int cols) {
  __shared__ float warps[8][5];
  a += static_cast<size_t>(blockIdx.x) * cols;
  b += static_cast<size_t>(blockIdx.x) * cols;
  State state;
  for (int first = threadIdx.x; first < cols; first += kBatch * blockDim.x) {
    float u[kBatch], v[kBatch];
    State batch;
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      int j = first + k * blockDim.x;
      u[k] = j < cols ? a[j] : -INFINITY;
      v[k] = j < cols ? b[j] : -INFINITY;
      batch.top_a = fmaxf(batch.top_a, u[k]);
      batch.top_b = fmaxf(batch.top_b, v[k]);
    }
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      if (first + k * blockDim.x >= cols) break;
      float p = __expf(u[k] - batch.top_a);
      batch.sum_a += p;
      batch.weighted += p * (u[k] - v[k]);
      batch.sum_b += __expf(v[k] - batch.top_b);
    }
    state.merge(batch);
  }
  state.merge_warp();
  int lane = threadIdx.x % 32;
  if (lane == 0) {
    float* to = warps[threadIdx.x / 32];
    to[0] = state.top_a, to[1] = state.sum_a, to[2] = state.weighted;
    to[3] = state.top_b, to[4] = state.sum_b;
  }
  __syncthreads();
  if (threadIdx.x >= 32) return;
  State total;
  if (lane < blockDim.x / 32) {
    const float* from = warps[lane];
    total.top_a = from[0], total.sum_a = from[1], total.weighted = from[2];
    total.top_b = from[3], total.sum_b = from[4];
  }
  total.merge_warp();
  if (lane == 0)
    kl[blockIdx.x] = total.weighted / total.sum_a - (total.top_a - total.top_b) -
                     (logf(total.sum_a) - logf(total.sum_b));
}
