// Kernels to measure with: the naive ones of configs/tasks, then pairs of the dataset `templates`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::bench {

struct Work {
  testing::TaskText task;
  std::string source;
};

// Of the tasks alone.
std::vector<Work> naive_kernels();
// Up to `pairs` generated ones, of the families that are not made of tasks; none where the dataset is not built.
std::vector<Work> generated_kernels(std::size_t pairs);
// Both.
std::vector<Work> corpus(std::size_t pairs);

}  // namespace krl::bench
