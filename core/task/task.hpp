// A task: what a kernel has to compute. Data only; backends read the rest from the definition.
#pragma once

#include <string>

namespace krl {

struct Task {
  std::string id, title, prompt;
  unsigned tier = 0;
  std::string definition_json;  // <kernelrl/task_definition.hpp>
};

}  // namespace krl
