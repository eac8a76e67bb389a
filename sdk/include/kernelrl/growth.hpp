// Structs of the boundary that were built for another 1.x: they begin alike and end earlier or later.
// Pure.
#pragma once

#include <kernelrl/abi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace krl {

// The size that a struct had in version 1.0, which no struct of a plugin or host is below. Where one
// grows, a specialisation keeps its first size; tests/abi holds both against its table.
template <class C>
inline constexpr std::size_t kSizeAt10 = sizeof(C);

// True if a struct is large enough to have the member.
template <class C, class Member>
bool has(const C& c, const Member& member) {
  const auto* const end = reinterpret_cast<const char*>(&member + 1);
  return end <= reinterpret_cast<const char*>(&c) + c.struct_size;
}

// Says what keeps a struct from being read, as in "a sample that is NULL"; empty if nothing does.
template <class C>
std::string fault_in(const C* c) {
  if (c == nullptr) return "that is NULL";
  if (c->struct_size >= kSizeAt10<C>) return {};
  return "whose struct_size is " + std::to_string(c->struct_size) + ", not " +
         std::to_string(kSizeAt10<C>);
}

// Returns the struct in today's size, with the members that it lacks as zeros. REQUIRES: no fault_in
// it.
template <class C>
C whole(const C& c) {
  C copy{};
  std::memcpy(&copy, &c, std::min<std::size_t>(c.struct_size, sizeof copy));
  copy.struct_size = sizeof copy;
  return copy;
}

}  // namespace krl
