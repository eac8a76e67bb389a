// For messages about barriers that are objects in shared memory.
#pragma once

#include <cstddef>
#include <string>

namespace krl::machine {

// Tells what the present phase of the mbarrier at `object` waits for: "1 arrival and 512 bytes".
std::string awaited_by_mbarrier(const std::byte* object);

}  // namespace krl::machine
