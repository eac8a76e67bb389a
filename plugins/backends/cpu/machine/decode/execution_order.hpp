// In which order a warp should execute basic blocks, so that lanes that branched apart meet again
// as early as they can: what comes before a place on every path has a lower rank, the blocks of a
// loop are neighbours, and a loop's exits come after it (a weak topological order). Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace krl::machine {

// The rank of each block, 0 first. `successors[b]` are the blocks that may follow b; block 0 is the
// first. Blocks that cannot be reached come last.
std::vector<std::uint32_t> execution_order(
    const std::vector<std::vector<std::uint32_t>>& successors);

}  // namespace krl::machine
