// Tracks which bytes of the buffers without initial values a run has written: a bit for each byte,
// a word for each sector of 32 bytes. Memory is zero until it is touched. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/backends/cpu/machine/memory/global_shadow.hpp"

namespace krl::machine {

inline constexpr std::uint32_t kAllBytes = ~std::uint32_t{0};  // all bytes of a sector

// The bits of `bytes` that begin at `address` and do not leave its sector.
inline std::uint32_t bits_of_bytes(std::uint64_t address, std::uint32_t bytes) {
  const auto bits = static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1);
  return bits << address % 32;
}

// Elements of a buffer that have a byte that was never written. Their bytes are a power of two.
struct UnwrittenElements {
  std::uint64_t first = 0, count = 0;
};
UnwrittenElements find_unwritten(const std::uint32_t* written, std::uint64_t bytes,
                                 std::uint32_t element_bytes);

// The words of one run's buffers. Each run gets a fresh set, so that nothing has to be cleared.
class WrittenBytes {
 public:
  // Room for so many sectors; ends the use of what earlier calls returned. Throws std::bad_alloc.
  std::uint32_t* begin_run(std::uint64_t sectors) {
    const std::uint64_t first = used_;
    used_ += sectors;
    pages_.grow(used_ * sizeof(std::uint32_t));
    return reinterpret_cast<std::uint32_t*>(pages_.data()) + first;
  }

 private:
  ZeroPages pages_;
  std::uint64_t used_ = 0;  // words
};

}  // namespace krl::machine
