// The tasks that a server judges kernels for: those it began with, and definitions that clients
// send. Thread-safe.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "core/task/task.hpp"

namespace krl::serve {
using namespace core;

struct ServedTask {
  Task task;           // with its facts
  std::string digest;  // SHA-256 of its definition
  bool is_own = true;  // the server's; else a client has sent it
};
using TaskPointer = std::shared_ptr<const ServedTask>;

class TaskShelf {
 public:
  // The number of definitions by clients that are remembered, the latest ones.
  static constexpr std::size_t kMostSent = 1000;

  static Result<std::unique_ptr<TaskShelf>> of(std::vector<Task> tasks);

  // The tasks it began with, by id.
  const std::vector<TaskPointer>& own() const { return own_; }

  // kNotFound suggests ids.
  Result<TaskPointer> find(const std::string& id) const;

  // Reads a definition: the keys of a task file (docs/tasks.md). Nothing that names a file of this
  // machine is taken from it.
  Result<TaskPointer> define(const nlohmann::ordered_json& definition);

  // An id or a definition.
  Result<TaskPointer> get(const nlohmann::ordered_json& task);

 private:
  std::vector<TaskPointer> own_;
  std::unordered_map<std::string, TaskPointer> by_id_;
  std::mutex mutex_;                                        // guards the members below
  std::list<TaskPointer> sent_;                             // the latest first
  std::unordered_map<std::string, TaskPointer> by_digest_;  // of `sent_`
};

}  // namespace krl::serve
