// `kernelrl plugins validate` and `install`. Main thread only.
#pragma once

#include "cli/command_line.hpp"

namespace krl::cli {

// The words of the two calls besides the file.
void add_validation_options(CommandLine& line);

// Both print, and return the exit code. REQUIRES: the line has `id`, the file.
int validate_plugin(const CommandLine& line);
int install_plugin(const CommandLine& line);

}  // namespace krl::cli
