// Text of strangers, which may be anything. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace krl {

// The bytes of the code point at the front of `text`; 0 if it is not UTF-8. REQUIRES: not empty.
std::size_t code_point_size(std::string_view text);

// The text as one line that is safe to print: control characters, line breaks among them, become
// spaces, and bytes that are not UTF-8 '?'.
std::string one_line(std::string_view text);

}  // namespace krl
