// What a block does to each row by itself: embedding, residual sum, norm, gated activation.
//
// In a decode step a row is the slot `slot_of_row` says, and idle ones are passed over; in a prefill
// `slot_of_row` is null and every row is computed.

constexpr int kVector = VECTOR;  // elements of an access; divides every width and offset
constexpr int kHiddenVectors = kHidden / kVector;
constexpr int kRowThreads = kHiddenVectors >= 1024 ? 1024 : (kHiddenVectors + 31) / 32 * 32;
constexpr int kVectorsPerThread = (kHiddenVectors + kRowThreads - 1) / kRowThreads;

// out = x / √(mean(x²) + epsilon) · gain, for the row whose vectors the threads hold.
__device__ inline void norm_row(const float (&x)[kVectorsPerThread][kVector], const Element* gain,
                                float epsilon, Element* out) {
  float squares = 0;
#pragma unroll
  for (int v = 0; v < kVectorsPerThread; ++v) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) squares += x[v][i] * x[v][i];
  }
  const float inverse = rsqrtf(block_sum<kRowThreads>(squares) / kHidden + epsilon);
#pragma unroll
  for (int v = 0; v < kVectorsPerThread; ++v) {
    const int at = (v * kRowThreads + threadIdx.x) * kVector;
    if (at >= kHidden) break;
    float normed[kVector];
    load(gain + at, normed);
#pragma unroll
    for (int i = 0; i < kVector; ++i) normed[i] *= rounded(x[v][i] * inverse);
    store(normed, out + at);
  }
}

// x [rows, hidden] = embedding[token] · scale; out = norm(x). Counts the steps of a block, which
// tell the sampling kernel where to put its tokens. One block a row.
extern "C" __global__ void __launch_bounds__(kRowThreads)
    embed_and_norm(const int* slot_of_row, const SlotState* slots, const int* tokens, int* step,
                   const Element* embedding, float scale, const Element* gain, float epsilon,
                   Element* x, Element* out) {
  if (step != nullptr && blockIdx.x == 0 && threadIdx.x == 0) ++*step;
  int token;
  if (slot_of_row == nullptr) {
    token = tokens[blockIdx.x];
  } else {
    const int slot = active_slot(slot_of_row, slots, blockIdx.x);
    if (slot < 0) return;
    token = slots[slot].token;
  }
  const Element* from = embedding + static_cast<long long>(token) * kHidden;
  const long long row = static_cast<long long>(blockIdx.x) * kHidden;
  float values[kVectorsPerThread][kVector] = {};
#pragma unroll
  for (int v = 0; v < kVectorsPerThread; ++v) {
    const int at = (v * kRowThreads + threadIdx.x) * kVector;
    if (at >= kHidden) break;
    load(from + at, values[v]);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[v][i] = rounded(values[v][i] * scale);
    store(values[v], x + row + at);
  }
  norm_row(values, gain, epsilon, out + row);
}

// x [rows, hidden] += delta; out = norm(x). One block a row.
extern "C" __global__ void __launch_bounds__(kRowThreads)
    add_and_norm(const int* slot_of_row, const SlotState* slots, const Element* delta,
                 const Element* gain, float epsilon, Element* x, Element* out) {
  if (slot_of_row != nullptr && active_slot(slot_of_row, slots, blockIdx.x) < 0) return;
  const long long row = static_cast<long long>(blockIdx.x) * kHidden;
  float values[kVectorsPerThread][kVector] = {};
#pragma unroll
  for (int v = 0; v < kVectorsPerThread; ++v) {
    const int at = (v * kRowThreads + threadIdx.x) * kVector;
    if (at >= kHidden) break;
    float added[kVector];
    load(x + row + at, values[v]);
    load(delta + row + at, added);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[v][i] = rounded(values[v][i] + added[i]);
    store(values[v], x + row + at);
  }
  norm_row(values, gain, epsilon, out + row);
}

// out [rows, ffn] = silu(gate) · up of gate_up [rows, 2 · ffn]. Grid: rows, vectors of a row / 256.
constexpr int kGateThreads = 256;
extern "C" __global__ void __launch_bounds__(kGateThreads)
    gate(const int* slot_of_row, const SlotState* slots, const Element* gate_up, Element* out) {
  if (slot_of_row != nullptr && active_slot(slot_of_row, slots, blockIdx.x) < 0) return;
  const int at = (blockIdx.y * kGateThreads + threadIdx.x) * kVector;
  if (at >= kFfn) return;
  const long long row = blockIdx.x;
  float gates[kVector], ups[kVector];
  load(gate_up + row * 2 * kFfn + at, gates);
  load(gate_up + row * 2 * kFfn + kFfn + at, ups);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    gates[i] = rounded(gates[i] / (1 + exponential(-gates[i]))) * ups[i];
  }
  store(gates, out + row * kFfn + at);
}
