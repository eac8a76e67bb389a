// The tasks that a server judges kernels for: those it began with, and definitions that clients
// send. Thread-safe.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/latest_used.hpp"
#include "core/base/result.hpp"
#include "core/task/task.hpp"

namespace krl::serve {
using namespace core;

struct ServedTask {
  Task task;           // with its facts
  std::string digest;  // "sha256:…" of its definition
  bool is_own = true;  // the server's; else a client has sent it
};
using TaskPointer = std::shared_ptr<const ServedTask>;

class TaskShelf {
 public:
  // Bytes of a definition by a client; of those that are remembered, the latest used; and the number
  // of those that clients may name by their ids, the latest kept.
  static constexpr std::size_t kMostDefinition = std::size_t{256} << 10;
  static constexpr std::size_t kMostSent = std::size_t{64} << 20;
  static constexpr std::size_t kMostKept = 1000;

  explicit TaskShelf(std::size_t most_sent = kMostSent) : sent_(most_sent) {}

  static Result<std::unique_ptr<TaskShelf>> of(std::vector<Task> tasks);

  // The tasks it began with, by id.
  const std::vector<TaskPointer>& own() const { return own_; }

  // The same, and those that it keeps for this client.
  std::vector<TaskPointer> seen_by(const std::string& client) const;

  // A task that it began with, or that it keeps for this client, by its id; any that it remembers by
  // its digest. kNotFound suggests ids.
  Result<TaskPointer> find(const std::string& id, const std::string& client) const;

  // Reads a definition: the keys of a task file (docs/tasks.md). Nothing that names a file of this
  // machine is taken from it.
  Result<TaskPointer> define(const nlohmann::ordered_json& definition);

  // Lets the client name this task by its id from now on, unless the shelf began with one of that
  // id.
  void keep(const std::string& client, TaskPointer task);

  // An id, a digest or a definition.
  Result<TaskPointer> get(const nlohmann::ordered_json& task, const std::string& client = {});

 private:
  std::vector<TaskPointer> own_;
  std::unordered_map<std::string, TaskPointer> by_id_;    // its own, by id and by digest
  mutable LatestUsed<TaskPointer> sent_;                  // by digest
  mutable std::mutex mutex_;                              // guards `kept_`
  std::deque<std::pair<std::string, TaskPointer>> kept_;  // by client, the latest first
};

}  // namespace krl::serve
