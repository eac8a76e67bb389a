// The place of a block in its launch, and the sizes of both.
#pragma once

#include <cstdint>

#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::machine {
using namespace cpu;

using cpu::Dim3;

inline constexpr std::uint32_t kWarpsPerBlock = 32;  // upper limit

struct BlockShape {
  Dim3 grid{1, 1, 1};                                   // blocks
  Dim3 block{1, 1, 1};                                  // threads
  Dim3 index{};                                         // index of the block
  Dim3 cluster{1, 1, 1};                                // blocks of its cluster
  std::uint32_t static_shared = 0, dynamic_shared = 0;  // bytes

  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  // The block's rank in its cluster.
  std::uint32_t rank() const {
    return (index[2] % cluster[2] * cluster[1] + index[1] % cluster[1]) * cluster[0] +
           index[0] % cluster[0];
  }
};

}  // namespace krl::machine
