// The steps of which proposed tasks are composed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plugins/datasets/templates/reduction_text.hpp"

namespace krl::templates {

// The units for which a step's second tensor has an element; kNone: there is no such tensor.
enum class Operand { kNone, kColumn, kRow, kElement };

// A reduction over a line of elements, each computed by `element` (from $v); `value` is made of the
// result, $m.
struct Fold {
  Reduce kind;
  const char* element;
  const char* value = "$m";
};

using Line = std::vector<double>;

// In the texts, v is the element so far, o the second tensor's, k a constant, $0 and $1 the values
// of the folds, $length the number of elements in a line.
struct Step {
  const char* name;    // in ids
  const char* title;   // "softmax"
  const char* prompt;  // a line is "over $l"
  const char* torch;   // an expression; a line is the dimension $dim
  const char* cuda;    // an expression
  // Computes the same for a line in place; the checks of a task use it.
  std::function<void(Line& v, const Line& o, double k)> apply;
  Operand operand = Operand::kNone;
  const char* role = "";  // role of the second tensor, and its name
  std::vector<const char*> constants = {};
  std::vector<Fold> folds = {};
  bool ends = false;  // one number a line is left
};

const std::vector<Step>& all_steps();

}  // namespace krl::templates
