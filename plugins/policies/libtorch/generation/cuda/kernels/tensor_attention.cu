// Decode attention in bfloat16 by tensor cores, with everything that comes before it: bias, norm
// and rotation of the new token's heads, and its keys and values into the cache.
//
// A block computes all queries that share one head of keys, of one row. With so few queries all
// time is the reading of keys and values, so they go straight from memory into the registers of
// mma.m16n8k16 (PTX ISA, "Matrix fragments for mma.m16n8k16"), and the next tile is under way while
// one is computed. A tile is kTilePositions positions; the warps take turns in tiles, each with its
// own running softmax, and are joined at the end.
//
//   scores [16 positions, 8 queries] = keys [16, head_size] · queriesᵀ [head_size, 8]
//   out  [16 components, 8 queries] += valuesᵀ [16, 16 positions] · weights [16 positions, 8]
//
// A lane loads 8 neighbouring components (16 bytes) of a key. Their order within a sum does not
// matter, as long as the queries are in the same: component 32 j + 8 t + 2 w + e is the register w
// of load j in lane t of four, and so it is for the queries.

constexpr int kTensorWarps = TENSOR_WARPS;
constexpr int kTensorThreads = 32 * kTensorWarps;
constexpr int kTiles = TENSOR_TILES;  // tiles of 16 positions that a warp has in flight
constexpr int kTilePositions = 16 * kTiles;
constexpr int kQueries = 8;             // queries of an mma; those beyond kGroup are zeros
constexpr int kLoads = kHeadSize / 32;  // loads of 16 bytes that a lane makes for a key
constexpr int kOutTiles = kHeadSize / 16;
static_assert(sizeof(Element) == 2 && kHeadSize % 32 == 0 && kGroup <= kQueries,
              "use attention.cu");

__device__ inline unsigned pack(float low, float high) {
  unsigned packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

// 2^x; scores are multiplied by log2(e) before.
__device__ inline float exp2_fast(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// Transposes an 8 x 8 matrix of which every lane holds a pair of a row.
__device__ inline unsigned transpose(unsigned pair) {
  unsigned result;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pair));
  return result;
}

// sum [16, 8] += a [16, 16] · b [16, 8].
__device__ inline void multiply_add(float (&sum)[4], unsigned a0, unsigned a1, unsigned a2,
                                    unsigned a3, unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// 8 components of a key or value, that no one else will read: past the first cache.
__device__ inline uint4 load_once(const Element* from) {
  uint4 word;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "l"(from));
  return word;
}

__device__ inline unsigned word_of(const uint4& words, int i) {
  return i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
}

// A lane's part of a tile of keys or values: of two positions in 16, a quarter of the components.
using Tile = uint4[kTiles][2][kLoads];

// `of` is the first position of the head; positions from `length` on repeat the last one, which the
// softmax masks.
__device__ inline void load_tile(const Element* of, int first, int length, Tile& tile) {
  const int group = threadIdx.x % 32 / 4, quarter = threadIdx.x % 4;
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int position = min(first + t * 16 + half * 8 + group, length - 1);
#pragma unroll
      for (int j = 0; j < kLoads; ++j) {
        tile[t][half][j] =
            load_once(of + static_cast<long long>(position) * kHeadSize + j * 32 + quarter * 8);
      }
    }
  }
}

// A warp's sums over its positions so far, for the queries 2 · quarter and 2 · quarter + 1 of a
// lane.
struct RunningSoftmax {
  float max[2] = {kLowest, kLowest};
  float sum[2] = {0, 0};
  float out[kOutTiles][4] = {};
};

// scores[t][2 h + q]: position 8 h + group of tile t with the lane's query q, times `scale`.
__device__ inline void score_tile(const Tile& keys, const uint4 (&queries)[kLoads], float scale,
                                  int first, int length, float (&scores)[kTiles][4]) {
  const int group = threadIdx.x % 32 / 4;
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
    float sum[4] = {};
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      const uint4 &low = keys[t][0][j], &high = keys[t][1][j];
      multiply_add(sum, low.x, high.x, low.y, high.y, queries[j].x, queries[j].y);
      multiply_add(sum, low.z, high.z, low.w, high.w, queries[j].z, queries[j].w);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const bool valid = first + t * 16 + i / 2 * 8 + group < length;
      scores[t][i] = valid ? sum[i] * scale : kLowest;
    }
  }
}

// Replaces scores by weights under the new maximum, and scales down the sums under the old one.
__device__ inline void weigh_tile(float (&scores)[kTiles][4], RunningSoftmax& softmax) {
#pragma unroll
  for (int q = 0; q < 2; ++q) {
    float max = softmax.max[q];
#pragma unroll
    for (int t = 0; t < kTiles; ++t) max = fmaxf(max, fmaxf(scores[t][q], scores[t][2 + q]));
#pragma unroll
    for (int lanes = 4; lanes < 32; lanes *= 2) {
      max = fmaxf(max, __shfl_xor_sync(kAllLanes, max, lanes));
    }
    const float shrink = exp2_fast(softmax.max[q] - max);
    softmax.max[q] = max;
    softmax.sum[q] *= shrink;
#pragma unroll
    for (int i = 0; i < kOutTiles; ++i) {
      softmax.out[i][q] *= shrink;
      softmax.out[i][2 + q] *= shrink;
    }
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      scores[t][q] = exp2_fast(scores[t][q] - max);
      scores[t][2 + q] = exp2_fast(scores[t][2 + q] - max);
      softmax.sum[q] += scores[t][q] + scores[t][2 + q];
    }
  }
}

__device__ inline void add_values(const Tile& values, const float (&weights)[kTiles][4],
                                  RunningSoftmax& softmax) {
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
    const unsigned low = transpose(pack(weights[t][0], weights[t][1]));
    const unsigned high = transpose(pack(weights[t][2], weights[t][3]));
#pragma unroll
    for (int i = 0; i < kOutTiles; ++i) {
      const uint4 &first = values[t][0][i / 2], &second = values[t][1][i / 2];
      const int word = i % 2 * 2;
      multiply_add(softmax.out[i], transpose(word_of(first, word)),
                   transpose(word_of(first, word + 1)), transpose(word_of(second, word)),
                   transpose(word_of(second, word + 1)), low, high);
    }
  }
}

// The new token's heads, ready: they take part without a way through the cache.
struct alignas(16) NewToken {
  Element queries[kQueries][kHeadSize];
  float key[kHeadSize], value[kHeadSize];
  float scores[kQueries];  // scores of its own key, times scale
};

__device__ inline void prepare_token(const Element* row, int kv_head, int position,
                                     const HeadWeights& weights, float scale, Element* key_out,
                                     Element* value_out, NewToken& token) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int h = warp; h <= kGroup; h += kTensorWarps) {
    const int head = h < kGroup ? kv_head * kGroup + h : kHeads + kv_head;
    prepare_head(row, head, position, weights, [&](int i, Element component) {
      if (h < kGroup) {
        token.queries[h][i] = component;
      } else {
        token.key[i] = to_float(component);
        key_out[i] = component;
      }
    });
  }
  for (int i = threadIdx.x; i < kHeadSize; i += kTensorThreads) {
    const Element component = value_of(row, kv_head, i, weights);
    token.value[i] = to_float(component);
    value_out[i] = component;
  }
  for (int i = threadIdx.x; i < (kQueries - kGroup) * kHeadSize; i += kTensorThreads) {
    token.queries[kGroup + i / kHeadSize][i % kHeadSize] = from_float<Element>(0);
  }
  __syncthreads();
  for (int h = warp; h < kGroup; h += kTensorWarps) {
    float score = 0;
    for (int i = lane; i < kHeadSize; i += 32) {
      score += to_float(token.queries[h][i]) * token.key[i];
    }
    score = warp_sum(score);
    if (lane == 0) token.scores[h] = score * scale;
  }
}

// The results of all warps, side by side.
struct WarpResults {
  float max[kTensorWarps][kQueries], sum[kTensorWarps][kQueries];
  float out[kTensorWarps][kGroup][kHeadSize];
};

__device__ inline void keep(RunningSoftmax& softmax, WarpResults& results) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, quarter = lane % 4;
#pragma unroll
  for (int q = 0; q < 2; ++q) {
    const int query = 2 * quarter + q;
#pragma unroll
    for (int lanes = 4; lanes < 32; lanes *= 2) {
      softmax.sum[q] += __shfl_xor_sync(kAllLanes, softmax.sum[q], lanes);
    }
    if (group == 0) {
      results.max[warp][query] = softmax.max[q];
      results.sum[warp][query] = softmax.sum[q];
    }
    if (query >= kGroup) continue;
#pragma unroll
    for (int i = 0; i < kOutTiles; ++i) {
      const int component = i / 2 * 32 + group / 2 * 8 + i % 2 * 4 + group % 2;
      results.out[warp][query][component] = softmax.out[i][q];
      results.out[warp][query][component + 2] = softmax.out[i][2 + q];
    }
  }
}

// The new token's own share and the warps' together: out [kGroup, head_size] of the row.
__device__ inline void join(const NewToken& token, const WarpResults& results, Element* out) {
  for (int i = threadIdx.x * 2; i < kGroup * kHeadSize; i += kTensorThreads * 2) {
    const int query = i / kHeadSize, component = i % kHeadSize;
    float max = token.scores[query];
#pragma unroll
    for (int warp = 0; warp < kTensorWarps; ++warp) max = fmaxf(max, results.max[warp][query]);
    const float own = exp2_fast(token.scores[query] - max);
    float sum = own, low = own * token.value[component], high = own * token.value[component + 1];
#pragma unroll
    for (int warp = 0; warp < kTensorWarps; ++warp) {
      const float factor = exp2_fast(results.max[warp][query] - max);
      sum += factor * results.sum[warp][query];
      low += factor * results.out[warp][query][component];
      high += factor * results.out[warp][query][component + 1];
    }
    *reinterpret_cast<unsigned*>(out + i) = pack(low / sum, high / sum);
  }
}

// Grid: rows · kv_heads. qkv [rows, qkv_width] as the product writes it, out [rows,
// attention_width]. TENSOR_BLOCKS blocks should fit a multiprocessor, so that enough loads are
// under way.
extern "C" __global__ void __launch_bounds__(kTensorThreads, TENSOR_BLOCKS)
    tensor_attention(const RowState* rows, const Element* qkv, HeadWeights weights,
                     LayerCache cache, Element* out) {
  __shared__ NewToken token;
  __shared__ WarpResults results;
  const long long row = blockIdx.x / kKvHeads;
  const int kv_head = blockIdx.x % kKvHeads;
  const RowState state = rows[row];
  if (state.position < 0) return;
  const int length = state.position;  // number of cached positions
  Element* keys = cached(cache.keys, cache, state.slot, kv_head, 0);
  Element* values = cached(cache.values, cache, state.slot, kv_head, 0);
  const long long end = static_cast<long long>(length) * kHeadSize;
  const float scale = 1.4426950408889634f * rsqrtf(static_cast<float>(kHeadSize));

  Tile key_tile, value_tile;  // under way while the new token is prepared
  int first = threadIdx.x / 32 * kTilePositions;
  if (first < length) {
    load_tile(keys, first, length, key_tile);
    load_tile(values, first, length, value_tile);
  }
  prepare_token(qkv + row * kQkvWidth, kv_head, length, weights, scale, keys + end, values + end,
                token);
  uint4 queries[kLoads];
#pragma unroll
  for (int j = 0; j < kLoads; ++j) {
    const int query = threadIdx.x % 32 / 4, component = j * 32 + threadIdx.x % 4 * 8;
    queries[j] = *reinterpret_cast<const uint4*>(&token.queries[query][component]);
  }
  RunningSoftmax softmax;
  while (first < length) {
    float scores[kTiles][4];
    score_tile(key_tile, queries, scale, first, length, scores);
    const int next = first + kTensorWarps * kTilePositions;
    if (next < length) load_tile(keys, next, length, key_tile);
    weigh_tile(scores, softmax);
    add_values(value_tile, scores, softmax);
    if (next < length) load_tile(values, next, length, value_tile);
    first = next;
  }
  keep(softmax, results);
  __syncthreads();
  join(token, results, out + (row * kHeads + kv_head * kGroup) * kHeadSize);
}
