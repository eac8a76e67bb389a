// A micro-batch for the training forward: sequences of any lengths one after the other, without
// padding.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace krl::libtorch {

struct PackedBatch {
  at::Tensor tokens;     // [N] int64
  at::Tensor positions;  // [N] int64, from 0 in each sequence
  // The first token of each sequence, and N: sequence s is [starts[s], starts[s + 1]).
  std::vector<std::int64_t> starts;
  at::Tensor boundaries;     // `starts` where the model is, [sequences + 1] int32
  std::int64_t longest = 0;  // tokens of the longest sequence
  at::Tensor predicting;     // [M] int64: the rows whose prediction is looked at, each once
  at::Tensor targets;        // [M] int64: the tokens that come next there
};

}  // namespace krl::libtorch
