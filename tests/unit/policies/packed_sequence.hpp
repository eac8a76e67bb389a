// One sequence as a batch, each of its tokens predicting the next.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/policies/libtorch/model/packed_batch.hpp"
#include "plugins/policies/libtorch/torch.hpp"

namespace krl::libtorch {

inline PackedBatch packed_sequence(const std::vector<std::int32_t>& tokens, at::Device device) {
  const auto n = static_cast<std::int64_t>(tokens.size());
  PackedBatch batch;
  batch.tokens = at::tensor(tokens).to(device, at::kLong);
  batch.positions = at::arange(n, batch.tokens.options());
  batch.starts = {0, n};
  batch.boundaries = at::tensor(batch.starts).to(device, at::kInt);
  batch.longest = n;
  batch.predicting = batch.positions;
  return batch;
}

}  // namespace krl::libtorch
