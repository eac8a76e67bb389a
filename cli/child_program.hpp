// Programs that commands leave their work to, so that this one needs none of their libraries.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "core/base/result.hpp"

namespace krl::cli {
using namespace core;

// Runs a program, found as a shell would, to its end; its output is this program's. Its exit code,
// 128 + N if signal N ended it, or kFailedPrecondition if it cannot be started. Blocks; main thread.
Result<int> run_program(Words words);

// Runs scripts/import/NAME.py, as installed, with Python: KERNELRL_PYTHON, or else python3.
Result<int> run_script(const std::string& name, const Words& words);

// The path of a program in libexec/kernelrl.
std::string installed_program(const std::string& name);

}  // namespace krl::cli
