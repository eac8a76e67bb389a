// Converts bytes to valid UTF-8. A model may produce any bytes, and a text from outside may contain
// any; texts passed on, to a host or to the split patterns of a tokenizer, are valid.
#pragma once

#include <string>
#include <string_view>

namespace krl::policies {

bool is_utf8(std::string_view bytes);

// `bytes` with U+FFFD for each part that is not UTF-8, as Python's
// bytes.decode("utf-8", errors="replace") has it: one for each maximal part of a sequence that is
// cut off or goes wrong (Unicode 15, section 3.9, "U+FFFD Substitution of Maximal Subparts").
std::string to_utf8(std::string_view bytes);

}  // namespace krl::policies
