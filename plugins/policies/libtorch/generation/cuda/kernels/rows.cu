// Row-wise kernels, one block per row: embedding, residual sum, norm, gated activation.
//
// In a decode step `rows` describes the work of each row, and idle rows are skipped; in a prefill
// it is null and every row is computed. The kernels test whether a row is idle after they have
// started to load its numbers, so that the latencies overlap.

constexpr int kVector = VECTOR;  // elements of an access; divides every width and offset
constexpr int kHiddenVectors = kHidden / kVector;
constexpr int kRowThreads = ROW_THREADS;
constexpr int kVectorsPerThread = (kHiddenVectors + kRowThreads - 1) / kRowThreads;

// The vectors of a row that a thread holds.
struct RowPart {
  float values[kVectorsPerThread][kVector] = {};

  // Calls visit(vector, its first element) for each of them.
  template <class Visit>
  __device__ void for_each(Visit visit) {
#pragma unroll
    for (int v = 0; v < kVectorsPerThread; ++v) {
      const int at = (v * kRowThreads + threadIdx.x) * kVector;
      if (at < kHidden) visit(values[v], at);
    }
  }
};

// out = x / √(mean(x²) + epsilon) · gain. `gain` is loaded before the sum, so that no one waits for
// it.
__device__ inline void norm_row(RowPart& x, RowPart& gain, float epsilon, Element* out) {
  float squares = 0;
  x.for_each([&](float(&values)[kVector], int) {
#pragma unroll
    for (int i = 0; i < kVector; ++i) squares += values[i] * values[i];
  });
  const float inverse = rsqrtf(block_sum<kRowThreads>(squares) / kHidden + epsilon);
#pragma unroll
  for (int v = 0; v < kVectorsPerThread; ++v) {
    const int at = (v * kRowThreads + threadIdx.x) * kVector;
    if (at >= kHidden) break;
#pragma unroll
    for (int i = 0; i < kVector; ++i) gain.values[v][i] *= rounded(x.values[v][i] * inverse);
    store(gain.values[v], out + at);
  }
}

// x [rows, hidden] = embedding[token] · scale, for the row of this block; out = norm(x).
__device__ inline void embed_row(int token, const Element* embedding, float scale,
                                 const Element* gain, float epsilon, Element* x, Element* out) {
  const Element* from = embedding + static_cast<long long>(token) * kHidden;
  const long long row = static_cast<long long>(blockIdx.x) * kHidden;
  RowPart part, gains;
  gains.for_each([&](float(&values)[kVector], int at) { load(gain + at, values); });
  part.for_each([&](float(&values)[kVector], int at) {
    load(from + at, values);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] = rounded(values[i] * scale);
    store(values, x + row + at);
  });
  norm_row(part, gains, epsilon, out + row);
}

// Starts a step: writes the work of each row, and counts the steps of a block, which tells the
// sampling kernel where to put its tokens. One block per row.
extern "C" __global__ void __launch_bounds__(kRowThreads)
    embed_step(const int* slot_of_row, const SlotState* slots, RowState* rows, int* step,
               const Element* embedding, float scale, const Element* gain, float epsilon,
               Element* x, Element* out) {
  const int slot = slot_of_row[blockIdx.x];
  const int position = slot < 0 ? -1 : slots[slot].position;
  if (threadIdx.x == 0) {
    rows[blockIdx.x] = {slot, position};
    if (blockIdx.x == 0) ++*step;
  }
  if (position < 0) return;
  embed_row(slots[slot].token, embedding, scale, gain, epsilon, x, out);
}

// The start of a prefill. One block a row.
extern "C" __global__ void __launch_bounds__(kRowThreads)
    embed_prompts(const int* tokens, const Element* embedding, float scale, const Element* gain,
                  float epsilon, Element* x, Element* out) {
  embed_row(tokens[blockIdx.x], embedding, scale, gain, epsilon, x, out);
}

// x [rows, hidden] += delta; out = norm(x). One block a row.
extern "C" __global__ void __launch_bounds__(kRowThreads)
    add_and_norm(const RowState* rows, const Element* delta, const Element* gain, float epsilon,
                 Element* x, Element* out) {
  const int position = rows == nullptr ? 0 : rows[blockIdx.x].position;
  const long long row = static_cast<long long>(blockIdx.x) * kHidden;
  RowPart part, gains;
  gains.for_each([&](float(&values)[kVector], int at) { load(gain + at, values); });
  part.for_each([&](float(&values)[kVector], int at) {
    float added[kVector];
    load(x + row + at, values);
    load(delta + row + at, added);
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] = rounded(values[i] + added[i]);
  });
  if (position < 0) return;
  part.for_each([&](float(&values)[kVector], int at) { store(values, x + row + at); });
  norm_row(part, gains, epsilon, out + row);
}

// out [rows, ffn] = silu(gate) · up of gate_up [rows, 2 · ffn]. Grid: rows, pieces of a row.
constexpr int kGateThreads = GATE_THREADS;
extern "C" __global__ void __launch_bounds__(kGateThreads)
    gate(const RowState* rows, const Element* gate_up, Element* out) {
  const int position = rows == nullptr ? 0 : rows[blockIdx.x].position;
  const int at = (blockIdx.y * kGateThreads + threadIdx.x) * kVector;
  if (at >= kFfn) return;
  const long long row = blockIdx.x;
  float gates[kVector], ups[kVector];
  load(gate_up + row * 2 * kFfn + at, gates);
  load(gate_up + row * 2 * kFfn + kFfn + at, ups);
  if (position < 0) return;
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    gates[i] = rounded(gates[i] / (1 + exponential(-gates[i]))) * ups[i];
  }
  store(gates, out + row * kFfn + at);
}
