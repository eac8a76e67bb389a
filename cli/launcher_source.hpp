// A kernel for a task as a source file with a host function, in the form of FlashInfer-Bench.
#pragma once

#include <kernelrl/task_definition.hpp>
#include <string>

#include "core/base/result.hpp"

namespace krl::cli {
using namespace core;

inline constexpr const char* kLauncherName = "launch_task";

// The kernel's text and, after it, a function `launch_task` that runs its launch directives. The
// arguments of the function are the inputs, scalars and outputs of the task, in this order, as
// tensors of TVM FFI; an output that is computed in place is a copy of the input. It enqueues on
// the stream of the environment and takes scratch buffers from the stream's memory pool. An error:
// the directives do not fit the task, or an axis is the size of no input.
Result<std::string> launcher_source(const TaskDefinition& task, const std::string& kernel);

// The input and the dimension that have the size of a variable axis.
struct AxisPlace {
  std::size_t input = 0, dimension = 0;
};
std::optional<AxisPlace> place_of_axis(const TaskDefinition& task, const std::string& axis);

}  // namespace krl::cli
