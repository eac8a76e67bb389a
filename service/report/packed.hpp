// Text that a page carries within itself: compressed, in letters that need no escaping.
#pragma once

#include <string>
#include <string_view>

namespace krl::service {

// Returns the text compressed by gzip, in base64. A browser reads it by atob() and a
// DecompressionStream("gzip").
std::string packed(std::string_view text);

}  // namespace krl::service
