// Attention of one new token over its slot's cache, for any type and size of heads: used for
// float32 and unusual shapes. bfloat16 has a faster one (tensor_attention.cu).
//
// A block computes one head of one row: each warp takes every kAttendWarps-th position, with lanes
// over the components, and keeps its own running softmax (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", 2018); the warps are joined at the end. The order of all
// sums follows from the position alone.

constexpr int kAttendThreads = ATTEND_THREADS;
constexpr int kAttendWarps = kAttendThreads / 32;
constexpr int kComponentsPerLane = (kHeadSize + 31) / 32;

// out [head_size] of query `head`, over positions 0..length-1 of `slot`.
__device__ inline void attend_row(const Element* query, const LayerCache& cache, int slot, int head,
                                  int length, Element* out) {
  __shared__ float maxima[kAttendWarps], sums[kAttendWarps], outs[kAttendWarps][kHeadSize];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, kv_head = head / kGroup;
  const float scale = 1 / sqrtf(static_cast<float>(kHeadSize));
  float q[kComponentsPerLane], total[kComponentsPerLane] = {};
#pragma unroll
  for (int c = 0; c < kComponentsPerLane; ++c) {
    const int i = c * 32 + lane;
    q[c] = i < kHeadSize ? to_float(query[i]) * scale : 0;
  }
  float max = kLowest, sum = 0;
  for (int position = warp; position < length; position += kAttendWarps) {
    const Element* key = cached(cache.keys, cache, slot, kv_head, position);
    const Element* value = cached(cache.values, cache, slot, kv_head, position);
    float score = 0;
#pragma unroll
    for (int c = 0; c < kComponentsPerLane; ++c) {
      const int i = c * 32 + lane;
      if (i < kHeadSize) score += q[c] * to_float(key[i]);
    }
    score = warp_sum(score);
    const float new_max = fmaxf(max, score);
    const float shrink = expf(max - new_max), weight = expf(score - new_max);
    max = new_max;
    sum = sum * shrink + weight;
#pragma unroll
    for (int c = 0; c < kComponentsPerLane; ++c) {
      const int i = c * 32 + lane;
      total[c] = total[c] * shrink + (i < kHeadSize ? weight * to_float(value[i]) : 0);
    }
  }
  if (lane == 0) {
    maxima[warp] = max;
    sums[warp] = sum;
  }
#pragma unroll
  for (int c = 0; c < kComponentsPerLane; ++c) {
    const int i = c * 32 + lane;
    if (i < kHeadSize) outs[warp][i] = total[c];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kHeadSize; i += kAttendThreads) {
    float all_max = kLowest, all_sum = 0, all_out = 0;
    for (int w = 0; w < kAttendWarps; ++w) all_max = fmaxf(all_max, maxima[w]);
    for (int w = 0; w < kAttendWarps; ++w) {
      const float factor = expf(maxima[w] - all_max);
      all_sum += factor * sums[w];
      all_out += factor * outs[w][i];
    }
    out[i] = from_float<Element>(all_out / all_sum);
  }
}

// Attention of a decode step, after prepare_step. Grid: rows, heads. qkv [rows, qkv_width], out
// [rows, attention_width].
extern "C" __global__ void __launch_bounds__(kAttendThreads)
    attend_step(const RowState* rows, const Element* qkv, LayerCache cache, Element* out) {
  const RowState state = rows[blockIdx.x];
  if (state.position < 0) return;
  const long long row = blockIdx.x;
  const int head = blockIdx.y;
  attend_row(qkv + row * kQkvWidth + head * kHeadSize, cache, state.slot, head, state.position + 1,
             out + (row * kHeads + head) * kHeadSize);
}

// Attention of a prefill, after prepare_prompts: a row attends to its own prompt, up to itself, in
// the first of the prompt's slots. Grid: rows, heads.
extern "C" __global__ void __launch_bounds__(kAttendThreads)
    attend_prompts(const int* positions, const int* prompts, const int* first_copy,
                   const int* copies, const Element* qkv, LayerCache cache, Element* out) {
  const long long row = blockIdx.x;
  const int head = blockIdx.y, prompt = prompts[row];
  if (prompt < 0) return;
  attend_row(qkv + row * kQkvWidth + head * kHeadSize, cache, copies[first_copy[prompt]], head,
             positions[row] + 1, out + (row * kHeads + head) * kHeadSize);
}
