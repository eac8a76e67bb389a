// Draws the next token of every row, as TokenSampler (token_sampler.hpp) does on the CPU: the
// inverse of the cumulative distribution, in the order of ids, at the uniform number of (seed,
// sample, drawn). From the same logits both draw the same token except for rounding.
//
// The vocabulary is cut into chunks. sum_chunks finds each chunk's maximum and sum of exponentials;
// draw, with one block per row, finds the chunk in which the distribution reaches the number, and
// then the token in it. If top_k or top_p are on, the row's block first finds which tokens they
// leave.

constexpr int kLogitVector = LOGIT_VECTOR;  // divides the vocabulary
constexpr int kSampleThreads = SAMPLE_THREADS;
constexpr int kStride = kSampleThreads * kLogitVector;  // ids that a block looks at together
constexpr int kChunk = LOGIT_CHUNK;                     // a multiple of kStride
constexpr int kChunks = (kVocabulary + kChunk - 1) / kChunk;

// Round for round what random_stream.hpp has. (Salmon et al., SC 2011)
__device__ inline double uniform(unsigned long long seed, unsigned sample, unsigned position) {
  unsigned counter[4] = {position, 0, sample, 0};
  unsigned key[2] = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * counter[0], b = 0xCD9E8D57ull * counter[2];
    counter[0] = static_cast<unsigned>(b >> 32) ^ counter[1] ^ key[0];
    counter[1] = static_cast<unsigned>(b);
    counter[2] = static_cast<unsigned>(a >> 32) ^ counter[3] ^ key[1];
    counter[3] = static_cast<unsigned>(a);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  const unsigned long long bits =
      (static_cast<unsigned long long>(counter[0]) << 32 | counter[1]) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

// Sums two parts of a row that are relative to maxima of their own.
__device__ inline void merge(ChunkSum& sum, const ChunkSum& other) {
  const float max = fmaxf(sum.max, other.max);
  sum.sum = sum.sum * expf(sum.max - max) + other.sum * expf(other.max - max);
  if (other.max > sum.max || (other.max == sum.max && other.likeliest < sum.likeliest)) {
    sum.likeliest = other.likeliest;
  }
  sum.max = max;
}

__device__ inline ChunkSum merge_block(ChunkSum sum) {
  __shared__ ChunkSum warps[kSampleThreads / 32];
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    merge(sum,
          {__shfl_xor_sync(kAllLanes, sum.max, lanes), __shfl_xor_sync(kAllLanes, sum.sum, lanes),
           __shfl_xor_sync(kAllLanes, sum.likeliest, lanes)});
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = warps[0];
  for (int warp = 1; warp < kSampleThreads / 32; ++warp) merge(sum, warps[warp]);
  return sum;
}

// sums [rows, kChunks] of logits [rows, vocabulary]. Grid: kChunks, rows.
extern "C" __global__ void __launch_bounds__(kSampleThreads)
    sum_chunks(const RowState* rows, const SlotState* slots, const Element* logits,
               ChunkSum* sums) {
  const int row = blockIdx.y;
  const RowState state = rows[row];
  if (state.position < 0) return;
  const float scale = slots[state.slot].scale;
  const Element* of_row = logits + static_cast<long long>(row) * kVocabulary;
  const int begin = blockIdx.x * kChunk, end = min(begin + kChunk, kVocabulary);
  ChunkSum sum{kLowest, 0, kVocabulary - 1};
  for (int id = begin + threadIdx.x * kLogitVector; id < end; id += kStride) {
    float values[kLogitVector];
    load(of_row + id, values);
    float max = sum.max;
#pragma unroll
    for (int i = 0; i < kLogitVector; ++i) {
      values[i] *= scale;
      if (values[i] > max) {
        max = values[i];
        sum.likeliest = id + i;
      }
    }
    sum.sum *= exponential(sum.max - max);
    sum.max = max;
#pragma unroll
    for (int i = 0; i < kLogitVector; ++i) sum.sum += exponential(values[i] - max);
  }
  sum = merge_block(sum);
  if (threadIdx.x == 0) sums[static_cast<long long>(row) * kChunks + blockIdx.x] = sum;
}

// A row as its block sees it.
struct Row {
  const Element* logits;
  float scale, max;
  // Token `id` is in the draw if order_of(logit, id) >= least; 0 = all are.
  unsigned long long least;
  double chunks[kChunks];  // weight of the candidates in the draw, by chunk

  __device__ float weight(float logit) const { return exponential(logit * scale - max); }
};

// Grows with the logit, and of equal ones is larger for the smaller id; never 0. No two tokens of a
// row share one, so "the n likeliest" always means exactly n.
constexpr int kIdBits = 24;
// The rest of a bfloat16's float has no information.
constexpr int kLogitBits = 8 * sizeof(Element);
constexpr int kOrderBits = kLogitBits + kIdBits;
static_assert(kVocabulary < 1 << kIdBits, "ids do not fit kIdBits");
__device__ inline unsigned long long order_of(float logit, int id) {
  const unsigned bits = __float_as_uint(logit);
  const unsigned rising = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(rising >> (32 - kLogitBits)) << kIdBits |
         static_cast<unsigned>((1 << kIdBits) - 1 - id);
}

// Calls visit(id, logit) for each token from `begin` to `end` that this thread has.
template <class Visit>
__device__ inline void for_each_logit(const Row& row, int begin, int end, Visit visit) {
  for (int id = begin + threadIdx.x * kLogitVector; id < end; id += kStride) {
    float values[kLogitVector];
    load(row.logits + id, values);
#pragma unroll
    for (int i = 0; i < kLogitVector; ++i) visit(id + i, values[i]);
  }
}

// Probabilities are integers, so that their sums do not depend on the order of atomic additions:
// with the likeliest at 2⁴⁰, the loss is below 2⁻⁴⁰ per token.
constexpr double kFixedOne = 1099511627776.0;

// The order of the last token that is needed when the tokens `from` >= row.least are taken in
// falling order until their amounts reach `target`: found digit by digit, from the highest, with a
// histogram of the amounts. `amount(logit)` is an integer. All threads take part and get the same.
template <class Amount>
__device__ unsigned long long reach(const Row& row, unsigned long long target, Amount amount) {
  constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
  static_assert(kDigits == kSampleThreads, "a thread clears a bin");
  __shared__ unsigned long long histogram[kDigits];
  __shared__ unsigned long long found, missing;
  if (threadIdx.x == 0) {
    found = 0;
    missing = target;
  }
  for (int shift = kOrderBits - kDigitBits; shift >= 0; shift -= kDigitBits) {
    histogram[threadIdx.x] = 0;
    __syncthreads();
    const unsigned long long prefix = found;
    for_each_logit(row, 0, kVocabulary, [&](int id, float logit) {
      const unsigned long long order = order_of(logit, id);
      if (order >> (shift + kDigitBits) != prefix || order < row.least) return;
      atomicAdd(&histogram[order >> shift & (kDigits - 1)], amount(logit));
    });
    __syncthreads();
    if (threadIdx.x == 0) {
      int digit = kDigits - 1;
      while (digit > 0 && histogram[digit] < missing) missing -= histogram[digit--];
      found = found << kDigitBits | static_cast<unsigned>(digit);
    }
    __syncthreads();
  }
  return found;
}

__device__ inline double sum_block(double x) {
  __shared__ double warps[kSampleThreads / 32];
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) x += __shfl_xor_sync(kAllLanes, x, lanes);
  __syncthreads();  // after the reads of the last call's threads
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
  __syncthreads();
  double total = 0;
  for (int warp = 0; warp < kSampleThreads / 32; ++warp) total += warps[warp];
  return total;
}

// Leaves the top_k likeliest, and of these the likeliest whose probabilities reach top_p together.
__device__ void cut(const SlotState& slot, Row& row) {
  const auto mass = [&](float logit) {
    return static_cast<unsigned long long>(static_cast<double>(row.weight(logit)) * kFixedOne);
  };
  const auto narrow = [&](unsigned long long least) {
    __syncthreads();
    if (threadIdx.x == 0) row.least = least;
    __syncthreads();
  };
  if (slot.top_k > 0 && slot.top_k < kVocabulary) {
    narrow(reach(row, slot.top_k, [](float) { return 1ull; }));
  }
  if (slot.top_p < 1) {
    double total = 0;
    for_each_logit(row, 0, kVocabulary, [&](int id, float logit) {
      if (order_of(logit, id) >= row.least) total += static_cast<double>(mass(logit));
    });
    const double target = ceil(slot.top_p * sum_block(total));
    narrow(reach(row, target < 1 ? 1 : static_cast<unsigned long long>(target), mass));
  }
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    double left = 0;
    const int begin = chunk * kChunk;
    for_each_logit(row, begin, min(begin + kChunk, kVocabulary), [&](int id, float logit) {
      if (order_of(logit, id) >= row.least) left += static_cast<double>(row.weight(logit));
    });
    left = sum_block(left);
    if (threadIdx.x == 0) row.chunks[chunk] = left;
  }
  __syncthreads();
}

// The sum of x over this thread and those before it.
__device__ inline double sum_up_to(double x, double (&warps)[kSampleThreads / 32]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const double before = __shfl_up_sync(kAllLanes, x, offset);
    if (lane >= offset) x += before;
  }
  if (lane == 31) warps[warp] = x;
  __syncthreads();
  for (int w = 0; w < warp; ++w) x += warps[w];
  return x;
}

// Among the lanes that have one, whose values rise with the lanes, stores the first value into
// `lowest` if it is lower, or the last one into `highest` if it is higher, with one atomic
// operation per warp.
__device__ inline void lowest_of_warp(int value, bool has_one, int& lowest) {
  const unsigned lanes = __ballot_sync(kAllLanes, has_one);
  if (lanes != 0 && threadIdx.x % 32 == __ffs(lanes) - 1) atomicMin(&lowest, value);
}
__device__ inline void highest_of_warp(int value, bool has_one, int& highest) {
  const unsigned lanes = __ballot_sync(kAllLanes, has_one);
  if (lanes != 0 && threadIdx.x % 32 == 31 - __clz(lanes)) atomicMax(&highest, value);
}

// The first token of `chunk` at which the sum of weights, `reached` before it, comes to `target`;
// the chunk's last possible one if rounding keeps it below. All threads get the same.
__device__ int find_in_chunk(const Row& row, int chunk, double reached, double target) {
  __shared__ double warps[kSampleThreads / 32];
  __shared__ double before;
  __shared__ int first, last_possible;
  if (threadIdx.x == 0) {
    before = reached;
    first = kVocabulary;
    last_possible = chunk * kChunk;
  }
  const int end = min((chunk + 1) * kChunk, kVocabulary);
  for (int base = chunk * kChunk; base < end; base += kStride) {
    const int id = base + threadIdx.x * kLogitVector;
    float weights[kLogitVector] = {};
    double own = 0;
    if (id < end) {
      load(row.logits + id, weights);
#pragma unroll
      for (int i = 0; i < kLogitVector; ++i) {
        weights[i] = order_of(weights[i], id + i) >= row.least ? row.weight(weights[i]) : 0;
        own += static_cast<double>(weights[i]);
      }
    }
    __syncthreads();  // `before` and `warps` are as the round needs them
    const double up_to = before + sum_up_to(own, warps);
    double sum = up_to - own;
    int reached_at = kVocabulary, possible_at = -1;
#pragma unroll
    for (int i = 0; i < kLogitVector; ++i) {
      if (!(weights[i] > 0)) continue;
      sum += static_cast<double>(weights[i]);
      possible_at = id + i;
      if (sum >= target && reached_at == kVocabulary) reached_at = id + i;
    }
    lowest_of_warp(reached_at, reached_at < kVocabulary, first);
    highest_of_warp(possible_at, possible_at >= 0, last_possible);
    __syncthreads();
    if (first < kVocabulary) break;
    if (threadIdx.x == kSampleThreads - 1) before = up_to;
  }
  __syncthreads();
  return first < kVocabulary ? first : last_possible;
}

// The token of the row's draw. All threads get the same.
__device__ int draw_token(const Row& row, double random) {
  __shared__ int chunk;
  __shared__ double reached, target;
  if (threadIdx.x == 0) {
    double total = 0;
    for (int c = 0; c < kChunks; ++c) total += row.chunks[c];
    target = random * total;
    double sum = 0;
    chunk = 0;
    reached = 0;
    for (int c = 0; c < kChunks; ++c) {
      if (!(row.chunks[c] > 0)) continue;
      chunk = c;  // also if rounding keeps the sum below `target`
      reached = sum;
      sum += row.chunks[c];
      if (sum >= target) break;
    }
  }
  __syncthreads();
  return find_in_chunk(row, chunk, reached, target);
}

// Destination of a step's results: one row of each array for a step of a block, [steps, slots].
// `ends` are the ids that end an answer.
extern "C" __global__ void __launch_bounds__(kSampleThreads)
    draw(const RowState* rows, SlotState* slots, const Element* logits, const ChunkSum* sums,
         const int* step, const int* ends, int end_count, int slot_count, int* tokens,
         float* logprobs) {
  __shared__ Row row;
  __shared__ double total;  // sum of all weights, before top_k and top_p
  __shared__ int likeliest;
  const RowState state = rows[blockIdx.x];
  if (state.position < 0) return;
  SlotState slot = slots[state.slot];
  const ChunkSum* of_row = sums + static_cast<long long>(blockIdx.x) * kChunks;
  ChunkSum part{kLowest, 0, kVocabulary - 1};
  for (int c = threadIdx.x; c < kChunks; c += kSampleThreads) merge(part, of_row[c]);
  const ChunkSum whole = merge_block(part);
  for (int c = threadIdx.x; c < kChunks; c += kSampleThreads) {
    row.chunks[c] =
        static_cast<double>(of_row[c].sum) * exp(static_cast<double>(of_row[c].max - whole.max));
  }
  if (threadIdx.x == 0) {
    row.logits = logits + static_cast<long long>(blockIdx.x) * kVocabulary;
    row.scale = slot.scale;
    row.max = whole.max;
    row.least = 0;
    likeliest = whole.likeliest;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    total = 0;
    for (int c = 0; c < kChunks; ++c) total += row.chunks[c];
  }
  int token = likeliest;
  if (slot.greedy == 0) {
    if (slot.top_p < 1 || (slot.top_k > 0 && slot.top_k < kVocabulary)) cut(slot, row);
    token = draw_token(row, uniform(slot.seed, slot.sample, slot.drawn));
  }
  if (threadIdx.x != 0) return;
  const float logprob =
      static_cast<float>(static_cast<double>(to_float(row.logits[token]) * slot.scale) -
                         static_cast<double>(whole.max) - log(total));
  tokens[*step * slot_count + state.slot] = token;
  logprobs[*step * slot_count + state.slot] = logprob;
  bool ended = ++slot.drawn >= slot.limit || !isfinite(logprob);
  for (int i = 0; i < end_count; ++i) ended = ended || token == ends[i];
  slot.token = token;
  slot.position = ended ? -1 : slot.position + 1;
  slots[state.slot] = slot;
}
