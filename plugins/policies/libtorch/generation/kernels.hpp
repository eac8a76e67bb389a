// The arithmetic of generation on the CPU, in float32: small loops that are compiled once for any
// CPU and once for AVX2, and selected at run time.
//
// A row of a result depends only on its row of the input, down to the last bit: the order of
// summation does not change with the number of rows. So the answer to a request does not depend on
// the rest of its batch, and any thread may compute any row. Thread-safe: the functions access only
// their arguments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krl::libtorch {

// A matrix of weights [outputs, inputs], stored for Kernels::multiply: panels of kPanel outputs,
// within a panel input by input; the last panel is filled up with zeros.
struct PackedMatrix {
  static constexpr std::int64_t kPanel = 16;
  std::int64_t outputs = 0, inputs = 0;
  std::vector<float> panels;
};

// Packs row-major weights [outputs, inputs] into `packed`, whose memory is used again.
void pack(const float* weights, std::int64_t outputs, std::int64_t inputs, PackedMatrix& packed);

// The keys and values of some positions of one head. Keys are stored by component
// ([head_size, capacity]), values by position ([capacity, head_size]), so that both loops over
// positions run through contiguous memory. `capacity` is a multiple of kPositions.
struct AttentionSpan {
  const float* keys;
  const float* values;
  std::int64_t length, capacity;
  static constexpr std::int64_t kPositions = 8;
};

enum class Store { kSet, kAdd };

struct Kernels {
  // out [rows, outputs] = (or +=) in [rows, inputs] · weightsᵀ.
  void (*multiply)(const float* in, std::int64_t rows, const PackedMatrix& weights, float* out,
                   Store store);
  // out [rows, width] = in / √(mean(in²) + epsilon) · gain, for each row.
  void (*rms_norm)(const float* in, std::int64_t rows, std::int64_t width, const float* gain,
                   float epsilon, float* out);
  // out [rows, width] = silu(gate) · up, for rows of gate and up side by side, [rows, 2 · width].
  void (*swiglu)(const float* gate_up, std::int64_t rows, std::int64_t width, float* out);
  // out [head_size] = softmax(query · keys / √head_size) · values over the positions of `first` and
  // then `second`; `scores` has room for all of them and kPositions more.
  void (*attend)(const float* query, std::int64_t head_size, const AttentionSpan& first,
                 const AttentionSpan& second, float* scores, float* out);
  // Replaces x[0..n) by exp(x - shift) and returns their sum in double.
  double (*exp_sum)(float* x, std::int64_t n, float shift);
};

// The fastest kernels that this CPU can run.
const Kernels& kernels();

// Each set by itself, for tests. avx2_kernels() needs a CPU with AVX2 and FMA.
const Kernels& portable_kernels();
const Kernels& avx2_kernels();
bool cpu_has_avx2();

}  // namespace krl::libtorch
