// GPT-2's byte alphabet: how the files of byte-level tokenizers represent bytes as characters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace krl::policies {

// Spells each byte as its character: those that are printable in Latin-1 as themselves, the others,
// in order, as U+0100 and up. The result is UTF-8.
std::string spell_bytes(std::string_view bytes);

// Returns the bytes that `text` spells; nothing if one of its characters spells no byte.
std::optional<std::string> spelled_bytes(std::string_view text);

}  // namespace krl::policies
