// Heads of queries, keys and values on their way to attention and back: bias, norm of each head,
// rotation of the pairs (i, i + half). kGroupLanes neighbouring lanes have one head of one row,
// each some neighbouring pairs of it.

constexpr int kHeads = HEADS;
constexpr int kKvHeads = KV_HEADS;
constexpr int kAllHeads = kHeads + 2 * kKvHeads;
constexpr int kHeadSize = HEAD_SIZE;
constexpr int kHalf = kHeadSize / 2;
constexpr bool kQkvBias = QKV_BIAS;
constexpr bool kQkNorm = QK_NORM;
constexpr int kPairVector = PAIR_VECTOR;  // pairs of an access; divides half a head
constexpr int kGroupLanes = GROUP_LANES;  // a power of two, at most 32
constexpr int kGroupsPerBlock = kHeadThreads / kGroupLanes;
constexpr int kPairVectorsPerLane = (kHalf / kPairVector + kGroupLanes - 1) / kGroupLanes;

// Some pairs of a head: `low` the components i, `high` the components i + half.
struct Pairs {
  float low[kPairVectorsPerLane][kPairVector], high[kPairVectorsPerLane][kPairVector];
};

// Returns the first component of access v of this lane; at or beyond kHalf there is none.
__device__ inline int component_of(int v) {
  return (v * kGroupLanes + static_cast<int>(threadIdx.x) % kGroupLanes) * kPairVector;
}

// Calls use(low, high, component) for each access of this lane.
template <class Use>
__device__ inline void for_pairs(Pairs& pairs, Use use) {
#pragma unroll
  for (int v = 0; v < kPairVectorsPerLane; ++v) {
    if (component_of(v) < kHalf) use(pairs.low[v], pairs.high[v], component_of(v));
  }
}

__device__ inline void load_head(const Element* head, Pairs& pairs) {
  for_pairs(pairs, [&](auto& low, auto& high, int component) {
    load(head + component, low);
    load(head + kHalf + component, high);
  });
}

__device__ inline void store_head(Pairs& pairs, Element* head) {
  for_pairs(pairs, [&](auto& low, auto& high, int component) {
    store(low, head + component);
    store(high, head + kHalf + component);
  });
}

__device__ inline void add_bias(const Element* bias, Pairs& pairs) {
  Pairs added = {};
  load_head(bias, added);
#pragma unroll
  for (int v = 0; v < kPairVectorsPerLane; ++v) {
#pragma unroll
    for (int i = 0; i < kPairVector; ++i) {
      pairs.low[v][i] = rounded(pairs.low[v][i] + added.low[v][i]);
      pairs.high[v][i] = rounded(pairs.high[v][i] + added.high[v][i]);
    }
  }
}

// Σ a · b over the head. REQUIRES: all lanes of the warp; pairs beyond the head are 0.
__device__ inline float head_dot(const Pairs& a, const Pairs& b) {
  float dot = 0;
#pragma unroll
  for (int v = 0; v < kPairVectorsPerLane; ++v) {
#pragma unroll
    for (int i = 0; i < kPairVector; ++i) {
      dot += a.low[v][i] * b.low[v][i] + a.high[v][i] * b.high[v][i];
    }
  }
  return lanes_sum<kGroupLanes>(dot);
}

// Turns by the angles of the row, whose cosines and sines are [half]; direction -1 turns back.
__device__ inline void turn(Pairs& pairs, const float* cosine, const float* sine, float direction) {
  for_pairs(pairs, [&](auto& low, auto& high, int component) {
#pragma unroll
    for (int i = 0; i < kPairVector; ++i) {
      const float c = cosine[component + i], s = direction * sine[component + i];
      const float a = low[i], b = high[i];
      low[i] = a * c - b * s;
      high[i] = b * c + a * s;
    }
  });
}

// qkv [rows, qkv_width] → out, the same: bias, norm and turn as the model has them. cosine and sine
// are [rows, half].
extern "C" __global__ void __launch_bounds__(kHeadThreads)
    prepare_heads(const Element* qkv, const Element* bias, const Element* query_gain,
                  const Element* key_gain, float epsilon, const float* cosine, const float* sine,
                  int rows, Element* out) {
  const long long group =
      static_cast<long long>(blockIdx.x) * kGroupsPerBlock + threadIdx.x / kGroupLanes;
  const int row = static_cast<int>(group / kAllHeads), head = static_cast<int>(group % kAllHeads);
  const bool here = row < rows, turns = head < kHeads + kKvHeads;
  Pairs x = {};
  if (here) load_head(qkv + group * kHeadSize, x);
  if (kQkvBias && here) add_bias(bias + head * kHeadSize, x);
  if constexpr (kQkNorm) {
    const float scale = rsqrtf(head_dot(x, x) / kHeadSize + epsilon);
    if (here && turns) {
      Pairs gain = {};
      load_head(head < kHeads ? query_gain : key_gain, gain);
#pragma unroll
      for (int v = 0; v < kPairVectorsPerLane; ++v) {
#pragma unroll
        for (int i = 0; i < kPairVector; ++i) {
          x.low[v][i] = rounded(rounded(x.low[v][i] * scale) * gain.low[v][i]);
          x.high[v][i] = rounded(rounded(x.high[v][i] * scale) * gain.high[v][i]);
        }
      }
    }
  }
  if (!here) return;
  const long long angles = static_cast<long long>(row) * kHalf;
  if (turns) turn(x, cosine + angles, sine + angles, 1);
  store_head(x, out + group * kHeadSize);
}

// Computes the way back through the norm of a head, in place: `by` is the gradient of the norm's
// output, x its input. Adds by · n, times the two factors, to the gradients of the two gains: an
// index instead would send them from registers to memory.
__device__ inline void norm_head_backward(const Pairs& x, const Pairs& gain, float epsilon,
                                          float is_query, float is_key, Pairs& by,
                                          Pairs& by_query_gain, Pairs& by_key_gain) {
  const float scale = rsqrtf(head_dot(x, x) / kHeadSize + epsilon);
  Pairs n = x;
#pragma unroll
  for (int v = 0; v < kPairVectorsPerLane; ++v) {
#pragma unroll
    for (int i = 0; i < kPairVector; ++i) {
      n.low[v][i] *= scale;
      n.high[v][i] *= scale;
      const float low = by.low[v][i] * n.low[v][i], high = by.high[v][i] * n.high[v][i];
      by_query_gain.low[v][i] += is_query * low;
      by_query_gain.high[v][i] += is_query * high;
      by_key_gain.low[v][i] += is_key * low;
      by_key_gain.high[v][i] += is_key * high;
      by.low[v][i] *= gain.low[v][i];
      by.high[v][i] *= gain.high[v][i];
    }
  }
  const float mean = head_dot(by, n) / kHeadSize;
#pragma unroll
  for (int v = 0; v < kPairVectorsPerLane; ++v) {
#pragma unroll
    for (int i = 0; i < kPairVector; ++i) {
      by.low[v][i] = scale * (by.low[v][i] - n.low[v][i] * mean);
      by.high[v][i] = scale * (by.high[v][i] - n.high[v][i] * mean);
    }
  }
}

// Sums by_gain over the groups of the block, into part [head_size].
__device__ inline void leave_gain(Pairs& by_gain, float* part) {
  __shared__ float groups[kGroupsPerBlock][kHeadSize];
  __syncthreads();  // all results of the last call have been read
  for_pairs(by_gain, [&](auto& low, auto& high, int component) {
#pragma unroll
    for (int i = 0; i < kPairVector; ++i) {
      groups[threadIdx.x / kGroupLanes][component + i] = low[i];
      groups[threadIdx.x / kGroupLanes][kHalf + component + i] = high[i];
    }
  });
  __syncthreads();
  for (int i = threadIdx.x; i < kHeadSize; i += kHeadThreads) {
    float total = 0;
    for (int g = 0; g < kGroupsPerBlock; ++g) total += groups[g][i];
    part[i] = total;
  }
}

// Maps the gradients of the heads' queries [rows, heads, head_size], keys and values [rows,
// kv_heads, head_size] to by_qkv [rows, qkv_width]. With norms of heads: qkv is the norm's input,
// and each block leaves its parts of the gains' gradients, the queries' and then the keys', in row
// blockIdx.x of gain_parts [blocks, 2 · head_size].
extern "C" __global__ void __launch_bounds__(kHeadThreads)
    prepare_heads_backward(const Element* by_queries, const Element* by_keys,
                           const Element* by_values, const Element* qkv, const Element* query_gain,
                           const Element* key_gain, float epsilon, const float* cosine,
                           const float* sine, int rows, Element* by_qkv, float* gain_parts) {
  const long long groups = static_cast<long long>(rows) * kAllHeads;
  Pairs by_query_gain = {}, by_key_gain = {};
  for (long long first = static_cast<long long>(blockIdx.x) * kGroupsPerBlock; first < groups;
       first += static_cast<long long>(gridDim.x) * kGroupsPerBlock) {
    const long long group = first + threadIdx.x / kGroupLanes;
    const long long row = group / kAllHeads;
    const int head = static_cast<int>(group % kAllHeads);
    const bool here = group < groups, turns = head < kHeads + kKvHeads;
    Pairs by = {};
    if (here) {
      const Element* from =
          head < kHeads ? by_queries + (row * kHeads + head) * kHeadSize
          : turns       ? by_keys + (row * kKvHeads + head - kHeads) * kHeadSize
                        : by_values + (row * kKvHeads + head - kHeads - kKvHeads) * kHeadSize;
      load_head(from, by);
      if (turns) turn(by, cosine + row * kHalf, sine + row * kHalf, -1);
    }
    if constexpr (kQkNorm) {
      Pairs x = {}, gain = {}, normed = by;
      if (here) load_head(qkv + group * kHeadSize, x);
      if (here && turns) load_head(head < kHeads ? query_gain : key_gain, gain);
      const bool is_query = head < kHeads;
      norm_head_backward(x, gain, epsilon, here && is_query ? 1.0f : 0.0f,
                         here && turns && !is_query ? 1.0f : 0.0f, normed, by_query_gain,
                         by_key_gain);
      if (turns) by = normed;
    }
    if (here) store_head(by, by_qkv + group * kHeadSize);
  }
  if constexpr (kQkNorm) {
    float* part = gain_parts + static_cast<long long>(blockIdx.x) * 2 * kHeadSize;
    leave_gain(by_query_gain, part);
    leave_gain(by_key_gain, part + kHeadSize);
  }
}
