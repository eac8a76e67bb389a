// The structs exchanged between the host and its kernels. Also part of the kernels' source
// (kernel_source.cpp), hence without includes. Pointers are device pointers; those without a type
// point to elements of the model's type.
#pragma once

namespace krl::libtorch {

// A slot: the place in the cache in which one sample grows. Written by the host when a sample
// starts, then by the sampling kernel after each token.
struct SlotState {
  int position;     // position of `token`; below 0 = idle, and skipped by every kernel
  int token;        // the last one: the input of the next step
  int drawn;        // tokens drawn so far
  int limit;        // the sample ends with this many
  unsigned sample;  // names its random stream together with `seed` (random_stream.hpp)
  int top_k;        // below 1 = off
  unsigned long long seed;
  double top_p;  // 1 = off
  float scale;   // 1 / temperature; 1 if greedy
  int greedy;    // not 0: always the likeliest token
};

// The work of a row of the batch in this step: looked up once, by the step's first kernel, so that
// the others need no chain of loads.
struct RowState {
  int slot;
  int position;  // below 0 = nothing to do
};

// A start of a sample, sent to the device.
struct SlotStart {
  SlotState state;
  long long slot;
};

// Copies the first `length` positions of slot `from` to slot `to`, in all layers.
struct PromptCopy {
  int from, to, length;
};

// The keys and values of one layer, [slots, kv_heads, capacity, head_size] each.
struct LayerCache {
  void* keys;
  void* values;
  int capacity;
};

// Applied to the query and key heads of a layer; null where a family lacks them.
struct HeadWeights {
  const void* bias;        // [qkv_width]
  const void* query_gain;  // [head_size]
  const void* key_gain;    // [head_size]
  const float* rotary;     // pairs of cosine and sine, [context, head_size / 2, 2]
  float epsilon;
};

// The result of one block of the sampling kernel for its part of a row of logits.
struct ChunkSum {
  float max;      // maximum of the scaled logits
  float sum;      // sum of exp(scaled logit - max)
  int likeliest;  // the smallest id of the maximum
};

}  // namespace krl::libtorch
