// Estimates how much can still be learned from each task: whether the rewards of its recent groups
// of episodes differed. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/task/task.hpp"

namespace krl::core {

class Learnability {
 public:
  // A group of the task's episodes was played; whether its returns differed.
  void observe(const std::string& task, bool differed);

  // The weight by which a task is drawn, 0.1..1: the share of its groups that differed, the newest
  // counting for half; 1 before the first.
  double of(const std::string& task) const;

  // Draws `count` tasks of `pool`, which is not empty if `count` is not 0. No task is repeated
  // before all were drawn, and the order is drawn by weight.
  std::vector<const Task*> draw(const std::vector<const Task*>& pool, std::size_t count,
                                std::uint64_t seed) const;

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  std::map<std::string, double> differed_;  // keyed by task
};

}  // namespace krl::core
