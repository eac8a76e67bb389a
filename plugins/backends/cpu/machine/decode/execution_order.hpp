// The order in which a warp should execute basic blocks, so that divergent lanes reconverge as
// early as possible: a block that precedes another on every path has a lower rank, the blocks of a
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
