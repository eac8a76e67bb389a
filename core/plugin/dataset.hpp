// A dataset plugin as the core uses it.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/plugin/instance.hpp"
#include "core/task/task.hpp"

namespace krl::core {

// A supervised example: an answer to a task, after `earlier` answers that it repairs or improves.
struct Pair {
  Task task;
  std::string answer;
  std::vector<std::string> earlier;  // oldest first
  std::vector<std::string> shows;    // words for how its kernels work
};

// A text for retrieval.
struct Document {
  std::string id, task;  // task: the id of the one that it answers; may be empty
  std::string text;
  std::string meta_json;  // an object
};

// A document that a dataset found for a task.
struct FoundDocument {
  Document document;
  std::string left_out;  // why it must not be shown, in a word: "own_task"; empty: it may be
};

struct DatasetItems {
  std::vector<Task> tasks;
  std::vector<Pair> pairs;
  std::vector<Document> documents;
  std::size_t lost = 0;    // items that could not be read while the dataset was unavailable
  std::string first_lost;  // the first lost item and the reason; all are in the log
};

class Dataset {
 public:
  static constexpr Kind kKind = Kind::kDataset;

  explicit Dataset(Instance instance) : instance_(std::move(instance)) {}

  const Component& component() const { return instance_.component(); }

  // True if the instances of a dataset find documents.
  static bool can_find(const Component& component);

  // Finds at most `count` documents to be shown with a task, the nearest first, and those that are
  // nearer but give its answer away. None is a copy of the task's or `guarded`'s text. REQUIRES:
  // can_find().
  Result<std::vector<FoundDocument>> find(const Task& task, const std::vector<std::string>& guarded,
                                          std::uint32_t count) const;

  Result<std::uint64_t> size() const;
  // The one item of this index.
  Result<DatasetItems> read(std::uint64_t index) const;

  // Reads every item, in order. An error: the dataset's size or an item that could not be had, or
  // all items lost.
  Result<DatasetItems> read_all() const;

 private:
  const krl_dataset_v& table() const {
    return *static_cast<const krl_dataset_v*>(component().raw->table);
  }

  Instance instance_;
};

}  // namespace krl::core
