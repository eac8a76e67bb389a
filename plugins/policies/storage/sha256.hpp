// The SHA-256 of a text, as 64 hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace krl::policies {

std::string sha256_hex(std::string_view text);

}  // namespace krl::policies
