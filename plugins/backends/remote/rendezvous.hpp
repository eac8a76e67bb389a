// Orders the members of a fleet by a request's preference: highest random weight (Thaler and
// Ravishankar, 1998).
// Whoever asks for the same content asks the same member first, without knowing of others who ask;
// a member that comes or goes changes the first choice for its own share of the contents only. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace krl::remote {

// The member with the largest weight comes first.
std::uint64_t weight(std::uint64_t content, std::string_view member);

}  // namespace krl::remote
