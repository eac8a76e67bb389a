// Gives lines of the candidate's source to messages of NVRTC about texts that it derives from the
// source: the names of kernels in directives, and PTX. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace krl::nvrtc {

// "__nv_name_map(2): error: …", about a kernel's name, becomes "kernel.cu(3): error: …", the line
// of the first @launch of that name in `source`.
std::string with_lines_of_launches(std::string_view messages, std::string_view source);

// "ptxas application ptx input, line 30; error   : …" becomes "kernel.cu(3): error: …", the line
// that the .loc before that line of `ptx` names.
std::string with_lines_of_ptx(std::string_view messages, std::string_view ptx);

// True if ptxas names a line in these messages.
bool names_lines_of_ptx(std::string_view messages);

}  // namespace krl::nvrtc
