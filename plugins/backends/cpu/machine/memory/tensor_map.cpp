#include "plugins/backends/cpu/machine/memory/tensor_map.hpp"

#include <algorithm>

namespace krl::machine {

std::vector<TensorMap::Run> TensorMap::runs(const Place& corner) const {
  std::vector<Run> runs;
  const auto inner = static_cast<std::int64_t>(sizes_[0]);
  const std::int64_t begin = std::clamp<std::int64_t>(corner[0], 0, inner);
  const std::int64_t end = std::clamp<std::int64_t>(std::int64_t{corner[0]} + box_[0], 0, inner);
  if (begin >= end) return runs;
  std::array<std::uint32_t, kMostRank> row{};  // its place in the box
  std::uint32_t place = 0;
  for (;; place += box_[0] * element_bytes_) {
    bool inside = true;
    std::uint64_t element = 0, stride = sizes_[0];
    for (std::size_t d = 1; d < rank(); ++d) {
      const std::int64_t at = std::int64_t{corner[d]} + row[d];
      inside &= at >= 0 && at < static_cast<std::int64_t>(sizes_[d]);
      element += static_cast<std::uint64_t>(at) * stride;
      stride *= sizes_[d];
    }
    if (inside) {
      runs.push_back({address_ + (element + static_cast<std::uint64_t>(begin)) * element_bytes_,
                      static_cast<std::uint32_t>(end - begin) * element_bytes_,
                      place + static_cast<std::uint32_t>(begin - corner[0]) * element_bytes_});
    }
    std::size_t d = 1;
    while (d < rank() && ++row[d] == box_[d]) row[d++] = 0;
    if (d == rank() || rank() == 1) return runs;
  }
}

}  // namespace krl::machine
