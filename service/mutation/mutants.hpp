// Mutants: kernels that are wrong by one change each, derived from right ones. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/task/task.hpp"
#include "service/mutation/change.hpp"

namespace krl::service {
using namespace core;

// A right kernel of a task.
struct Original {
  const Task* task = nullptr;  // outlives it
  std::string name;            // "naive", or its file
  std::string source;
  bool has_ptx = false;  // its compiled PTX follows the source, and only that is changed
};

struct Mutant {
  std::size_t original = 0;  // index in the list of originals
  Change change;
  std::uint32_t line = 1;  // line of the source where the change begins
  std::string before;      // replaced text
};

// `count` of the changes that there are, or all of them: as many of each original as of the others
// while there are any, drawn by the seed; fewer are the first ones of more. In the originals'
// order.
std::vector<Mutant> derive_mutants(const std::vector<Original>& originals, std::size_t count,
                                   std::uint64_t seed);

// "softmax_rows/naive:7: bound_off_by_one: `<` -> `<=`"
std::string describe(const Mutant& mutant, const Original& original);

}  // namespace krl::service
