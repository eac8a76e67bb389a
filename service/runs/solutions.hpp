// A run's results: the best kernel of each task, with the kernels that led to it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/learn/archive.hpp"
#include "core/run/best.hpp"
#include "core/run/run_directory.hpp"

namespace krl::service {
using namespace core;

struct Solution {
  std::string task;
  std::size_t judged = 0;          // distinct kernels
  std::optional<BestKernel> best;  // nothing: none was right
  std::filesystem::path file;      // holds the best kernel
  // The best kernel and its ancestors, the oldest first, as far as the archive still has them; of
  // two parents the one that was edited.
  std::vector<ArchivedKernel> lineage;
};

// One for each task of which a kernel was judged, sorted by id, as the newest checkpoint has it.
// kNotFound if there is none.
Result<std::vector<Solution>> solutions_of(const RunLayout& run);

}  // namespace krl::service
