// Kernels run without a task, on the machine of the backend `cpu`, by a program of its own. Calls block.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "service/process/child_program.hpp"

namespace krl::service {

// The texts are as `kernelrl emulate` takes them (docs/emulate.md).
struct EmulationOptions {
  std::string file;
  std::vector<std::string> launches, buffers, values, saved;
  std::string gpu, compiler = "auto";
  std::vector<std::string> compiler_options;
  std::uint64_t seed = 0;
  double seconds = 300;  // processor time of each run
  bool once = false;     // one run instead of several orders of blocks and warps
};

// Returns the report, whose keys docs/emulate.md describes. A fault of the kernels is no error.
Result<nlohmann::ordered_json> emulate(const EmulationOptions& options, ChildOptions child);

}  // namespace krl::service
