// Maps the tensors of a Hugging Face directory to the flat parameters, with their names. Theirs are
// single projections; ours are fused: queries, keys and values, and gate and up.
#pragma once

#include <string>
#include <vector>

#include "plugins/policies/libtorch/model/parameters.hpp"

namespace krl::libtorch {

// Neighbouring rows of a parameter; a vector counts as rows of one number.
struct NamedRows {
  std::string name;                 // "model.layers.0.self_attn.q_proj.weight"
  std::vector<std::int64_t> shape;  // [rows, width] or [rows]
  std::int64_t offset, size;        // range in the flat parameters, in elements
};

// All of them; together they cover every parameter once. An output matrix of its own is
// "lm_head.weight".
std::vector<NamedRows> hugging_face_names(const ParameterLayout& layout);

}  // namespace krl::libtorch
