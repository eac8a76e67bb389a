// Finds the registers of a function that may be read before they are written. They hold garbage
// when it begins: no thread sees values of another, and none can rely on the contents. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace krl::machine {

struct BlockRegisters {
  // Registers that the block reads before it writes them whole.
  std::vector<std::uint32_t> read_first;
  std::vector<std::uint32_t> written;     // registers that it writes for all of its lanes
  std::vector<std::uint32_t> successors;  // blocks
};

// Registers are numbered 0 … count - 1; block 0 is the first. Sorted. All that are read first
// anywhere, if the function is too large for the analysis.
std::vector<std::uint32_t> registers_read_unwritten(const std::vector<BlockRegisters>& blocks,
                                                    std::uint32_t count);

}  // namespace krl::machine
