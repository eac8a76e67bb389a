// The shape of a warp's access: where its lanes' addresses lie from the first one. Bounds, sectors,
// bank conflicts and who touches which word follow from it, and most instructions access memory in
// few shapes: it is worked out once and remembered with the instruction.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/identity.hpp"

namespace krl::machine {

inline constexpr std::uint32_t kSectorBytes = 32;

// Addresses of a warp's lanes: first + delta[lane]. Lanes that take no part have delta 0.
struct LaneAddresses {
  alignas(kRowAlignment) std::int32_t delta[kLanes];
  std::uint64_t first = 0;  // of the lowest lane that takes part
};

struct Shape {
  enum Pattern : std::uint8_t {
    kGeneral,
    kContiguous,  // all lanes, one after the other
    kUniform,     // all that take part at one address
  };

  alignas(kRowAlignment) std::int32_t delta[kLanes];
  Mask mask = 0;  // 0: nothing is remembered here
  Pattern pattern = kGeneral;
  bool overlapping = false;  // lanes touch the same bytes
  std::uint32_t below = 0;   // the first address minus the lowest, in bytes
  std::uint32_t above = 0;   // the end of the highest lane's bytes minus the first address
  std::uint32_t passes = 0;  // the most lanes at one address
  std::int32_t misaligned_lane = -1;
};

// Of global memory: the sectors that are touched. They depend on where in its sector the first
// address lies.
struct SectorShape : Shape {
  // One sector, from that of the first address. If one element after the other of the whole sector
  // is touched by lanes in ascending order, `pattern` says by whom: the first lane and the size of
  // an element, as SectorRecord keeps them.
  std::uint32_t count = 0;
  bool consecutive = false;  // the sectors lie one after the other
  bool whole = false;        // each of them has a pattern
  std::int32_t sector[kLanes];
  std::uint64_t who[kLanes];  // pattern and lane of each
};

// Of shared memory: the words of 4 bytes that are touched, each once, in runs of words that lie one
// after the other.
struct WordShape : Shape {
  struct Run {
    std::int32_t word = 0;  // of the first, from that of the first address
    std::uint32_t count = 0;
  };
  std::uint32_t runs = 0, words = 0;
  std::uint32_t wavefronts = 0, bank_conflicts = 0;
  bool whole_words = false;  // no word is touched in part
  Run run[kLanes];
  Who who[4 * kLanes];  // of each word: the lowest lane that touches it, and kMany
};

// The last shapes of an instruction, by the place of the first address in its sector.
class ShapeMemo {
 public:
  static constexpr unsigned kPhases = 8;
  std::array<std::unique_ptr<SectorShape>, kPhases> sectors;
  std::unique_ptr<WordShape> words;
};

}  // namespace krl::machine
