// Programs that the library leaves work to, so that it needs none of their libraries. Calls block.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace krl::service {
using namespace core;

// The surroundings of a child program.
struct ChildOptions {
  int output = 1, errors = 2;      // the descriptors that its streams go to
  std::string python = "python3";  // for scripts: Python 3.11 or newer
  int seconds = 0;                 // for scripts, which are killed then; 0: any time
};

// Runs a program, found as a shell would, to its end. Its exit code, 128 + N if signal N ended it,
// or kFailedPrecondition if it cannot be started.
Result<int> run_program(std::vector<std::string> words, const ChildOptions& options);

// Runs scripts/import/NAME.py, as installed, with Python.
Result<int> run_script(const std::string& name, const std::vector<std::string>& words,
                       const ChildOptions& options);

// The path of a program in libexec/kernelrl.
std::string installed_program(const std::string& name);

}  // namespace krl::service
