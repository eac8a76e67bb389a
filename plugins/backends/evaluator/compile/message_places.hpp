// Gives lines of the candidate's source to messages about other texts than the source as it was
// written: the names of kernels in directives, and PTX. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace krl::evaluator {

// "__nv_name_map(2): error: …", about a kernel's name, becomes "kernel.cu(3): error: …", the line
// of the first @launch of that name in `source`.
std::string with_lines_of_launches(std::string_view messages, std::string_view source);

// "ptxas application ptx input, line 30; error   : …" becomes "kernel.cu(3): error: …", the line
// that the .loc before that line of `ptx` names; or the same line, if `ptx` is the candidate's own.
std::string with_lines_of_ptx(std::string_view messages, std::string_view ptx);

// The PTX with a '?' for every byte that is not ASCII, which ptxas does not read even in comments.
std::string in_ascii(std::string_view ptx);

// True if ptxas names a line in these messages.
bool names_lines_of_ptx(std::string_view messages);

}  // namespace krl::evaluator
