// Two runs compared after equally many iterations, task by task. Pure but for reading the runs'
// metrics, which may be active.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/run/run_directory.hpp"

namespace krl::service {
using namespace core;

// A figure of each run; NaN where a run has none.
struct Both {
  double first = std::numeric_limits<double>::quiet_NaN();
  double second = std::numeric_limits<double>::quiet_NaN();
};

struct ComparedTask {
  std::string task;
  Both pass_rate;     // in the last iterations that had the task
  Both best_speedup;  // over the naive kernel, by the fastest right kernel so far
};

struct Comparison {
  int iterations = 0;               // the smaller number of iterations of reinforcement or search
  std::vector<ComparedTask> tasks;  // that both had, sorted
  std::vector<std::pair<std::string, Both>> metrics;  // means over the last iterations

  // The geometric mean of second / first of the best speedups, over tasks where both have one, and
  // Student's interval of 95 % over these tasks. It says nothing of other seeds.
  std::size_t paired = 0;
  double ratio = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

// Fewer tasks are too few to tell two runs apart.
inline constexpr std::size_t kFewestPaired = 6;

Result<Comparison> compare_runs(const RunLayout& first, const RunLayout& second);

}  // namespace krl::service
