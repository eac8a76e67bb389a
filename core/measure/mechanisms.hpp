// How a kernel works, in the words of the dataset `templates` ("row_cache"), told from what was
// compiled and executed; and the mechanisms that a warm start withheld from tasks.
#pragma once

#include <compare>
#include <kernelrl/evaluation.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/plan.hpp"

namespace krl::core {

// The mechanisms of a right kernel that its evaluation shows; none of a wrong one. register_tile and
// padded_tile leave no trace.
std::vector<std::string_view> mechanisms_of(const Evaluation& evaluation);

// A field of the matrix task x mechanism.
struct Cell {
  std::string task, mechanism;
  auto operator<=>(const Cell&) const = default;
};

// The cells "MECHANISM:TASK" of the option `withhold` of those datasets that are to warm up on.
std::set<Cell> withheld_cells(const std::vector<DatasetSettings>& datasets);

}  // namespace krl::core
