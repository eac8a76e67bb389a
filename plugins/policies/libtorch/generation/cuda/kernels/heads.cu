// Heads of queries, keys and values on their way to attention: bias, norm, rotation, and the places
// of keys and values in the cache.

__device__ inline const Element* elements(const void* pointer) {
  return static_cast<const Element*>(pointer);
}

// Returns where the positions of a head begin in LayerCache::keys and values.
__device__ inline long long cache_offset(const LayerCache& cache, int slot, int kv_head) {
  return (static_cast<long long>(slot) * kKvHeads + kv_head) * cache.capacity * kHeadSize;
}
// The key or value of `position`.
__device__ inline Element* cached(void* of, const LayerCache& cache, int slot, int kv_head,
                                  int position) {
  return static_cast<Element*>(of) + cache_offset(cache, slot, kv_head) +
         static_cast<long long>(position) * kHeadSize;
}

constexpr int kPairsPerLane = (kHalf + 31) / 32;

// One warp prepares head `head` of a row of [qkv_width]: queries first, then keys. Turns the pairs
// (i, i + half) of a head, the layout of Hugging Face's Llama. `put(i, value)` takes component i.
template <class Put>
__device__ inline void prepare_head(const Element* row, int head, int position,
                                    const HeadWeights& weights, Put put) {
  const int lane = threadIdx.x % 32;
  float low[kPairsPerLane], high[kPairsPerLane];
#pragma unroll
  for (int p = 0; p < kPairsPerLane; ++p) {
    const int i = p * 32 + lane;
    const bool inside = i < kHalf;
    low[p] = inside ? to_float(row[head * kHeadSize + i]) : 0;
    high[p] = inside ? to_float(row[head * kHeadSize + kHalf + i]) : 0;
    if (kQkvBias && inside) {
      low[p] = rounded(low[p] + to_float(elements(weights.bias)[head * kHeadSize + i]));
      high[p] = rounded(high[p] + to_float(elements(weights.bias)[head * kHeadSize + kHalf + i]));
    }
  }
  if (kQkNorm) {
    const Element* gain = elements(head < kHeads ? weights.query_gain : weights.key_gain);
    float squares = 0;
#pragma unroll
    for (int p = 0; p < kPairsPerLane; ++p) squares += low[p] * low[p] + high[p] * high[p];
    const float inverse = rsqrtf(warp_sum(squares) / kHeadSize + weights.epsilon);
#pragma unroll
    for (int p = 0; p < kPairsPerLane; ++p) {
      const int i = p * 32 + lane;
      if (i >= kHalf) break;
      low[p] = rounded(rounded(low[p] * inverse) * to_float(gain[i]));
      high[p] = rounded(rounded(high[p] * inverse) * to_float(gain[kHalf + i]));
    }
  }
#pragma unroll
  for (int p = 0; p < kPairsPerLane; ++p) {
    const int i = p * 32 + lane;
    if (i >= kHalf) break;
    const float2 turn = reinterpret_cast<const float2*>(
        weights.rotary)[static_cast<long long>(position) * kHalf + i];
    put(i, from_float<Element>(low[p] * turn.x - high[p] * turn.y));
    put(kHalf + i, from_float<Element>(high[p] * turn.x + low[p] * turn.y));
  }
}

// Component i of the values of `kv_head` of a row of [qkv_width].
__device__ inline Element value_of(const Element* row, int kv_head, int i,
                                   const HeadWeights& weights) {
  const int at = (kHeads + kKvHeads + kv_head) * kHeadSize + i;
  if (!kQkvBias) return row[at];
  return from_float<Element>(to_float(row[at]) + to_float(elements(weights.bias)[at]));
}

// Prepares the queries and keys of a row in place (and the values, where there is a bias), and puts
// keys and values at `position` of the `copies` slots. One warp a head.
__device__ inline void prepare_row(Element* row, int position, const HeadWeights& weights,
                                   const LayerCache& cache, const int* slots, int copies) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int head = warp; head < kHeads + kKvHeads; head += warps) {
    prepare_head(row, head, position, weights, [&](int i, Element value) {
      row[head * kHeadSize + i] = value;
      if (head < kHeads) return;
      for (int copy = 0; copy < copies; ++copy) {
        cached(cache.keys, cache, slots[copy], head - kHeads, position)[i] = value;
      }
    });
  }
  for (int kv_head = warp; kv_head < kKvHeads; kv_head += warps) {
    for (int i = lane; i < kHeadSize; i += 32) {
      const Element value = value_of(row, kv_head, i, weights);
      if (kQkvBias) row[(kHeads + kKvHeads + kv_head) * kHeadSize + i] = value;
      for (int copy = 0; copy < copies; ++copy) {
        cached(cache.values, cache, slots[copy], kv_head, position)[i] = value;
      }
    }
  }
}

constexpr int kPrepareThreads = PREPARE_THREADS;

// Prepares a decode step; one block per row of qkv [rows, qkv_width].
extern "C" __global__ void __launch_bounds__(kPrepareThreads)
    prepare_step(const RowState* rows, Element* qkv, HeadWeights weights, LayerCache cache) {
  const RowState row = rows[blockIdx.x];
  if (row.position < 0) return;
  prepare_row(qkv + static_cast<long long>(blockIdx.x) * kQkvWidth, row.position, weights, cache,
              &row.slot, 1);
}

// Prepares a prefill: row t is at `positions[t]` of prompt `prompts[t]`, whose keys and values go
// to the slots copies[first_copy[prompt]..first_copy[prompt + 1]).
extern "C" __global__ void __launch_bounds__(kPrepareThreads)
    prepare_prompts(const int* positions, const int* prompts, const int* first_copy,
                    const int* copies, Element* qkv, HeadWeights weights, LayerCache cache) {
  const int prompt = prompts[blockIdx.x];
  if (prompt < 0) return;  // a row that only fills up a product of fixed size
  const int first = first_copy[prompt];
  prepare_row(qkv + static_cast<long long>(blockIdx.x) * kQkvWidth, positions[blockIdx.x], weights,
              cache, copies + first, first_copy[prompt + 1] - first);
}

// Copies prompts from slot to slot: one block for each copy, layer and head of the keys. keys and
// values cover all layers.
extern "C" __global__ void copy_prompts(const PromptCopy* list, Element* keys, Element* values,
                                        int slots, int capacity) {
  const PromptCopy copy = list[blockIdx.x];
  const long long layer = blockIdx.y / kKvHeads, kv_head = blockIdx.y % kKvHeads;
  const auto start = [&](int slot) {
    return ((layer * slots + slot) * kKvHeads + kv_head) * capacity * kHeadSize;
  };
  const long long from = start(copy.from), to = start(copy.to);
  const int count = copy.length * kHeadSize;
  for (int i = threadIdx.x * kVector; i < count; i += blockDim.x * kVector) {
    float part[kVector];
    load(keys + from + i, part);
    store(part, keys + to + i);
    load(values + from + i, part);
    store(part, values + to + i);
  }
}

// Sets slots to the starts of their samples.
extern "C" __global__ void start_slots(const SlotStart* starts, int count, SlotState* slots) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) slots[starts[i].slot] = starts[i].state;
}
