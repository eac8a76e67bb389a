// The fastest right kernel of each task that a server has judged: of its own tasks, which all see,
// and of those that clients send, each for that client alone. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "serve/judging/task_shelf.hpp"
#include "serve/judging/told_result.hpp"

namespace krl::serve {

struct BestKernel {
  std::string client;  // who sent the task; empty if it is the server's own
  TaskPointer task;
  std::string source;
  ToldPointer told;
};

class BestKernels {
 public:
  // Memory for the kernels of tasks that clients have sent; those of later tasks are passed over.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  void consider(const std::string& client, const TaskPointer& task, const std::string& source,
                const ToldPointer& told);

  // All that the client may see by task, or that of one.
  std::vector<BestKernel> list(const std::string& client, const std::string& task_id = {}) const;

 private:
  mutable std::mutex mutex_;                // guards the members below
  std::size_t bytes_ = 0;                   // of clients' tasks
  std::map<std::string, BestKernel> best_;  // keyed by task and client
};

}  // namespace krl::serve
