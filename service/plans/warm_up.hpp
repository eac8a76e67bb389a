// Counts what the pairs of a warm start show of each task: a policy that has learned from few
// different kernels has few to begin with. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/stage/stage_data.hpp"

namespace krl::service {

struct WarmUpTask {
  std::string id;
  std::size_t pairs = 0;
  // Different ones: kernels, with their names normalised, and structures, without their numbers
  // either. Braces and comments never count, launch directives do.
  std::size_t kernels = 0, structures = 0;
  double commonest = 0;  // share of the pairs that have the commonest structure
  double entropy = 0;    // entropy over the kernels, in nats
  // Threads of the largest block in the pairs, and in the naive kernel that the task of this id is
  // trained with; 0 if it is not known.
  std::int64_t largest_block = 0, naive_block = 0;
  std::map<std::string, std::size_t> shown;  // pairs by the words for how their kernels work

  bool excludes_naive() const { return largest_block > 0 && largest_block < naive_block; }
};

// One for each task with pairs, sorted by id.
std::vector<WarmUpTask> warm_up_tasks(const core::StageData& data);

// The tokens of a kernel with its names normalised; without `numbers`, its numbers as well.
std::string kernel_signature(std::string_view source, bool numbers);

}  // namespace krl::service
