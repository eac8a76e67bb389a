// Reads a descriptor to its end, and writes completely: all the input and output of a process that
// compiles or computes. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace krl::evaluator {

// As much as could be read.
std::string read_all(int descriptor);

// False if not all could be written; errno says why.
bool write_all(int descriptor, std::string_view bytes);

}  // namespace krl::evaluator
