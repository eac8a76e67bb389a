// The rotation angles of queries and keys at each position.
#pragma once

#include <vector>

#include "plugins/policies/libtorch/model/config.hpp"

namespace krl::libtorch {

// Cosine and sine of position · theta^(-2i / head_size), each [context, head_size / 2], computed in
// double (Su et al., "RoFormer", 2021); config.rope_scaling stretches the frequencies.
struct RotaryTable {
  std::vector<float> cosine, sine;
};
RotaryTable rotary_table(const ModelConfig& config);

}  // namespace krl::libtorch
