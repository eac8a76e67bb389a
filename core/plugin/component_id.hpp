// The rule for the ids of components. Pure functions.
//
// An id is made of words of a-z, 0-9, '_' and '-', joined by dots; its first character is a letter,
// and it has at most 64. Those of the installation's own plugins may be one word, "speedup"; a
// stranger's has a vendor in front, "acme.speedup", so that it never takes a built-in one's place.
#pragma once

#include <cstddef>
#include <string_view>

namespace krl {

inline constexpr std::size_t kMostIdBytes = 64;

// "vendor.name".
bool has_vendor(std::string_view id);

// Whether it is an id at all, with a vendor or without.
bool is_id(std::string_view id);

// The rule as a message says it, after a ';'.
extern const std::string_view kIdRule;

}  // namespace krl
