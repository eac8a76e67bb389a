#include "plugins/backends/cpu/machine/memory/shape.hpp"

#include <algorithm>
#include <bit>

#include "plugins/backends/cpu/machine/memory/global_shadow.hpp"

namespace krl::machine {
namespace {

struct Element {
  std::int32_t delta;
  std::uint32_t lane;
};

// The lanes that take part, by address; at one address the lowest lane first.
struct Elements {
  Element at[kLanes];
  std::uint32_t count = 0;

  explicit Elements(const LaneAddresses& addresses) {
    bool ascending = true;
    for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::int32_t delta = addresses.delta[lane];
      ascending &= count == 0 || at[count - 1].delta <= delta;
      at[count++] = {delta, lane};
    }
    if (ascending) return;
    std::sort(at, at + count, [](const Element& a, const Element& b) {
      return a.delta != b.delta ? a.delta < b.delta : a.lane < b.lane;
    });
  }
};

// All that does not depend on the space.
void find_extent(const LaneAddresses& addresses, const Elements& elements, std::uint32_t phase,
                 std::uint32_t bytes, Shape* shape) {
  std::memcpy(shape->delta, addresses.delta, sizeof shape->delta);
  shape->mask = addresses.mask;
  shape->phase = phase;
  const Element& last = elements.at[elements.count - 1];
  shape->below = -std::int64_t{elements.at[0].delta};
  shape->above = std::int64_t{last.delta} + bytes;
  shape->misaligned_lane = -1;
  shape->overlapping = false;
  shape->passes = 1;
  bool contiguous = addresses.mask == kAllLanes;
  std::uint32_t together = 1;
  for (std::uint32_t i = 0; i < elements.count; ++i) {
    const Element& element = elements.at[i];
    contiguous &= element.lane == i && element.delta == static_cast<std::int32_t>(i * bytes);
    if (i == 0) continue;
    const std::int64_t gap = std::int64_t{element.delta} - elements.at[i - 1].delta;
    shape->overlapping |= gap < bytes;
    together = gap == 0 ? together + 1 : 1;
    shape->passes = std::max(shape->passes, together);
  }
  for (Mask rest = addresses.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if ((static_cast<std::uint32_t>(addresses.delta[lane]) & (bytes - 1)) == 0) continue;
    shape->misaligned_lane = static_cast<std::int8_t>(lane);
    break;
  }
  const bool uniform = elements.at[0].delta == last.delta;
  shape->pattern = contiguous ? Shape::kContiguous : uniform ? Shape::kUniform : Shape::kGeneral;
}

// Pattern and first lane of the lanes in one sector, or 0.
std::uint64_t pattern_of(const Element* begin, const Element* end, std::int32_t sector_delta,
                         std::uint32_t bytes) {
  const std::uint32_t first = begin->lane;
  std::uint32_t next = 0;  // element
  std::uint64_t flags = 0;
  for (const Element* element = begin; element != end; ++element) {
    const auto at = static_cast<std::uint32_t>(element->delta - sector_delta);
    if (next > 0 && at == (next - 1) * bytes) {  // another lane at the same element
      flags = kMany;
      continue;
    }
    if (at != next * bytes || element->lane != first + next) return 0;
    ++next;
  }
  if (next * bytes != kSectorBytes) return 0;
  return std::uint64_t(std::countr_zero(bytes) + 1) << kPatternShift |
         std::uint64_t{first} << kLaneShift | flags;
}

// Counts the passes over the banks, and those that the width requires: accesses of 8 and 16 bytes
// are served half and quarter warps at a time, each in as many passes as one bank has different
// words to serve.
void find_wavefronts(const LaneAddresses& addresses, std::uint32_t bytes, WordShape* shape) {
  const std::uint32_t words_each = std::max(1u, bytes / 4), lanes = kLanes / words_each;
  shape->wavefronts = shape->bank_conflicts = 0;
  for (std::uint32_t begin = 0; begin < kLanes; begin += lanes) {
    std::int32_t words[kLanes];
    std::uint32_t count = 0;
    for (std::uint32_t lane = begin; lane < begin + lanes; ++lane) {
      if ((addresses.mask >> lane & 1) == 0) continue;
      words[count++] = (static_cast<std::int32_t>(shape->phase) + addresses.delta[lane]) >> 2;
    }
    if (count == 0) continue;
    std::sort(words, words + count);
    const auto distinct = std::unique(words, words + count) - words;
    std::array<std::uint32_t, 32> asked{};
    std::uint32_t most = 0;
    for (std::ptrdiff_t i = 0; i < distinct; ++i) {
      for (std::uint32_t word = 0; word < words_each; ++word) {
        most = std::max(most, ++asked[(static_cast<std::uint32_t>(words[i]) + word) % 32]);
      }
    }
    shape->wavefronts += most;
    shape->bank_conflicts += most - 1;
  }
}

}  // namespace

void SectorShape::find(const LaneAddresses& addresses, std::uint32_t bytes) {
  const Elements elements(addresses);
  const auto start = static_cast<std::uint32_t>(addresses.first % kSectorBytes);
  find_extent(addresses, elements, start, bytes, this);
  count = 0;
  consecutive = whole = true;
  for (std::uint32_t i = 0; i < elements.count;) {
    const auto sector_at = [&](std::uint32_t element) {
      return static_cast<std::int32_t>((std::int64_t{start} + elements.at[element].delta) >> 5);
    };
    const std::int32_t present = sector_at(i);
    std::uint32_t end = i + 1;
    while (end < elements.count && sector_at(end) == present) ++end;
    const auto sector_delta =
        static_cast<std::int32_t>(std::int64_t{present} * kSectorBytes - start);
    const std::uint64_t pattern =
        pattern_of(elements.at + i, elements.at + end, sector_delta, bytes);
    consecutive &= count == 0 || present == sector[count - 1] + 1;
    whole &= pattern != 0;
    sector[count] = present;
    who[count++] = pattern;
    i = end;
  }
  const auto lanes = static_cast<std::uint32_t>(std::popcount(addresses.mask));
  needed = std::min(count, (lanes * bytes + kSectorBytes - 1) / kSectorBytes);
}

void WordShape::find(const LaneAddresses& addresses, std::uint32_t bytes) {
  const Elements elements(addresses);
  find_extent(addresses, elements, static_cast<std::uint32_t>(addresses.first % 4), bytes, this);
  find_wavefronts(addresses, bytes, this);
  runs = 0;
  std::uint32_t words = 0;
  std::int64_t next = 0;  // the word after the last run
  for (std::uint32_t i = 0; i < elements.count; ++i) {
    const Element& element = elements.at[i];
    const std::int64_t begin = (std::int64_t{phase} + element.delta) >> 2;
    const std::int64_t end = begin + std::max(1u, bytes / 4);
    for (std::int64_t word = begin; word < end; ++word) {
      if (runs > 0 && word < next) {
        Who& known = who[words - static_cast<std::uint32_t>(next - word)];
        if (lane_of(known) > element.lane) {
          known = element.lane << kLaneShift;
        }
        known |= kMany;
        continue;
      }
      if (runs == 0 || word != next) run[runs++] = {static_cast<std::int32_t>(word), 0};
      ++run[runs - 1].count;
      who[words++] = element.lane << kLaneShift;
      next = word + 1;
    }
  }
}

}  // namespace krl::machine
