// Texts that combine two partial results, for every place where a reduction needs one.
#pragma once

#include <string>

#include "plugins/datasets/templates/text.hpp"

namespace krl::templates {

enum class Reduce { kSum, kMax, kMin };

// The statement that takes `value` into `into`.
inline std::string combine(Reduce reduce, const std::string& into, const std::string& value) {
  if (reduce == Reduce::kSum) return into + " += " + value;
  return into + (reduce == Reduce::kMax ? " = fmaxf(" : " = fminf(") + into + ", " + value + ")";
}

inline std::string neutral(Reduce reduce) {
  if (reduce == Reduce::kSum) return "0.0f";
  return reduce == Reduce::kMax ? "-INFINITY" : "INFINITY";
}

// The parts of a template that reduces `element` (of the index j) in the variable acc, takes in the
// partial result v, and reduces between the lanes of a warp at the distance d, and between the
// entries of the shared array sh.
inline Scope reduction_parts(Reduce reduce, const std::string& element) {
  return {{"init", neutral(reduce)},
          {"step", combine(reduce, "acc", element)},
          {"join", combine(reduce, "acc", "v")},
          {"shuffle", combine(reduce, "acc", "__shfl_xor_sync(0xffffffff, acc, d)")},
          {"merge", combine(reduce, "sh[threadIdx.x]", "sh[threadIdx.x + d]")}};
}

}  // namespace krl::templates
