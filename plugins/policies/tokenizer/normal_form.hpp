// Unicode's normal forms according to the `tokenizers` library (0.23), whose tables are those of
// Unicode 9: later characters are neither reordered, composed nor decomposed. All functions:
// REQUIRES valid UTF-8. Thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace krl::policies {

// True if to_nfc() would return `text` unchanged.
bool is_nfc(std::string_view text);

// Returns `text` in normal form C, which the tokenizers of some families require.
std::string to_nfc(std::string_view text);

// Returns `text` in normal form D, from which accents can be stripped.
std::string to_nfd(std::string_view text);

}  // namespace krl::policies
