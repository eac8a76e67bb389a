// silu(gate) · up, forward and backward, for rows of gate and up side by side, [rows, 2 · ffn]. A
// thread has kVector elements.

constexpr int kFfn = FFN;

// Returns the position of the gate of element `index` (counted in kVector) of [rows, ffn]; its up
// is kFfn further.
__device__ inline long long gate_of(long long index) {
  constexpr int kRow = kFfn / kVector;
  return (index / kRow * 2 * kRow + index % kRow) * kVector;
}

// `count` is rows · ffn / kVector.
extern "C" __global__ void __launch_bounds__(kTrainingGateThreads)
    gate(const Element* gate_up, long long count, Element* out) {
  const long long index = static_cast<long long>(blockIdx.x) * kTrainingGateThreads + threadIdx.x;
  if (index >= count) return;
  float gates[kVector], ups[kVector];
  load(gate_up + gate_of(index), gates);
  load(gate_up + gate_of(index) + kFfn, ups);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    gates[i] = rounded(gates[i] / (1 + exponential(-gates[i]))) * ups[i];
  }
  store(gates, out + index * kVector);
}

// The gradient by_out → by_gate_up, and once more `out`, which forward does not keep.
extern "C" __global__ void __launch_bounds__(kTrainingGateThreads)
    gate_backward(const Element* gate_up, const Element* by_out, long long count,
                  Element* by_gate_up, Element* out) {
  const long long index = static_cast<long long>(blockIdx.x) * kTrainingGateThreads + threadIdx.x;
  if (index >= count) return;
  float gates[kVector], ups[kVector], by[kVector], result[kVector];
  load(gate_up + gate_of(index), gates);
  load(gate_up + gate_of(index) + kFfn, ups);
  load(by_out + index * kVector, by);
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    const float sigmoid = 1 / (1 + exponential(-gates[i]));
    const float silu = rounded(gates[i] * sigmoid);
    result[i] = silu * ups[i];
    const float slope = sigmoid * (1 + gates[i] * (1 - sigmoid));
    gates[i] = by[i] * ups[i] * slope;
    ups[i] = by[i] * silu;
  }
  store(gates, by_gate_up + gate_of(index));
  store(ups, by_gate_up + gate_of(index) + kFfn);
  store(result, out + index * kVector);
}
