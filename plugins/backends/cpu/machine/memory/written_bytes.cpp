#include "plugins/backends/cpu/machine/memory/written_bytes.hpp"

#include <bit>

namespace krl::machine {
namespace {

// The lowest bit of each element, whose bytes are a power of two up to 32, that has one.
std::uint32_t elements_of(std::uint32_t bits, std::uint32_t element_bytes) {
  constexpr std::uint32_t kLowest[] = {0xffffffff, 0x55555555, 0x11111111, 0x01010101, 0x10001, 1};
  for (std::uint32_t bytes = 1; bytes < element_bytes; bytes *= 2) bits |= bits >> bytes;
  return bits & kLowest[std::countr_zero(element_bytes)];
}

}  // namespace

UnwrittenElements find_unwritten(const std::uint32_t* written, std::uint64_t bytes,
                                 std::uint32_t element_bytes) {
  UnwrittenElements found;
  for (std::uint64_t begin = 0; begin < bytes; begin += 32) {
    std::uint32_t missing = ~written[begin / 32];
    if (missing == 0) continue;
    if (bytes - begin < 32) missing &= bits_of_bytes(0, static_cast<std::uint32_t>(bytes - begin));
    const std::uint32_t elements = elements_of(missing, element_bytes);
    if (elements == 0) continue;
    if (found.count == 0) {
      found.first =
          (begin + static_cast<std::uint64_t>(std::countr_zero(elements))) / element_bytes;
    }
    found.count += static_cast<std::uint64_t>(std::popcount(elements));
  }
  return found;
}

}  // namespace krl::machine
