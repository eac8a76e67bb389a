// The body of a function: declarations, labels and instructions in nested blocks.
#pragma once

#include "plugins/backends/ptx/reading.hpp"

namespace krl::ptx {

// Reads from "{" to its "}". The function's parameters and results are in scope already. Places
// hold numbers of SourceLines instead of lines.
void read_body(Reading& reading, Function& function);

}  // namespace krl::ptx
