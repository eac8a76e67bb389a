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

struct Document {
  std::string id, task_hint, text, meta_json;
};

struct DatasetItems {
  std::vector<Task> tasks;
  std::vector<Pair> pairs;
  std::vector<Document> documents;
};

class Dataset {
 public:
  explicit Dataset(Instance instance) : instance_(std::move(instance)) {}

  const Component& component() const { return instance_.component(); }

  // Reads every item, in order.
  Result<DatasetItems> read_all() const;

 private:
  Instance instance_;
};

}  // namespace krl
