// A descriptor read to its end, and written completely: all the input and output of a compiler's
// process.
#pragma once

#include <string>
#include <string_view>

namespace krl {

std::string read_all(int descriptor);

// False if not all could be written; errno says why.
bool write_all(int descriptor, std::string_view bytes);

}  // namespace krl
