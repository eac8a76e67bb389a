// Unicode's normal form C, which the tokenizers of some families require.
#pragma once

#include <string>
#include <string_view>

namespace krl::policies {

// True if to_nfc() would return `text` unchanged. REQUIRES: valid UTF-8. Thread-safe.
bool is_nfc(std::string_view text);

// Returns `text` in normal form C according to the `tokenizers` library (0.23), whose tables are
// those of Unicode 9: later characters are neither reordered nor composed. REQUIRES: valid UTF-8.
// Thread-safe.
std::string to_nfc(std::string_view text);

}  // namespace krl::policies
