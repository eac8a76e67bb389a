// The place in a task's definition with which a message about it begins. Pure.
#pragma once

#include <kernelrl/task_definition.hpp>
#include <string>
#include <string_view>

namespace krl::evaluator {

// Returns "file:line:column" of the value at `key` (TaskOrigin), or of a place in its text; the
// task's id if it is not from a file.
inline std::string origin_of(const TaskDefinition& task, std::string_view key, int line = 1,
                             int column = 1) {
  const std::string place = task.origin.locate(key, line, column);
  return place.empty() ? task.id : place;
}

}  // namespace krl::evaluator
