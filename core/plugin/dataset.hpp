// A dataset plugin as the core uses it.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/plugin/instance.hpp"
#include "core/task/task.hpp"

namespace krl {

// A supervised example: an answer to a task, after `earlier` answers that it repairs.
struct Pair {
  Task task;
  std::string answer;
  std::vector<std::string> earlier;  // oldest first
};

struct DatasetItems {
  std::vector<Task> tasks;
  std::vector<Pair> pairs;
};

class Dataset {
 public:
  static constexpr Kind kKind = Kind::kDataset;

  explicit Dataset(Instance instance) : instance_(std::move(instance)) {}

  const Component& component() const { return instance_.component(); }

  // Reads every item, in order; documents are left out, since no role of a dataset uses them.
  Result<DatasetItems> read_all() const;

 private:
  Instance instance_;
};

}  // namespace krl
