// The shape of a warp's access: the addresses of its lanes relative to the first one. It determines
// bounds, sectors, bank conflicts and which lane touches which word. Most instructions have few
// shapes, so these are computed once and stored with the instruction.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/identity.hpp"

namespace krl::machine {

inline constexpr std::uint32_t kSectorBytes = 32;
inline constexpr std::uint32_t kMostLaneBytes = 32;  // limit of one access by each lane
inline constexpr std::uint32_t kMostSharedLaneBytes = 16;

// Addresses of a warp's lanes: first + delta[lane]. Lanes that take no part have delta 0.
struct LaneAddresses {
  alignas(kRowAlignment) std::int32_t delta[kLanes];
  std::uint64_t first = 0;  // offset of the lowest active lane
  Mask mask = 0;            // the lanes that take part, at least one
};

struct Shape {
  enum Pattern : std::uint8_t {
    kGeneral,
    kContiguous,  // all lanes, one after the other
    kUniform,     // all that take part at one address
  };

  alignas(kRowAlignment) std::int32_t delta[kLanes];
  Mask mask = 0;            // 0: nothing is remembered here
  std::uint32_t phase = 0;  // the part of the first address that the shape depends on
  Pattern pattern = kGeneral;
  bool overlapping = false;          // lanes touch the same bytes
  std::int8_t misaligned_lane = -1;  // the lowest that is at an odd distance from the first address
  std::int64_t below = 0;            // the first address minus the lowest, in bytes
  std::int64_t above = 0;            // the end of the highest lane's bytes minus the first address
  std::uint32_t passes = 0;          // the most lanes at one address

  bool matches(const LaneAddresses& addresses, std::uint32_t with_phase) const {
    if (mask != addresses.mask || phase != with_phase) return false;
    return std::memcmp(delta, addresses.delta, sizeof delta) == 0;
  }
};

// The sectors of global memory that are touched.
struct SectorShape : Shape {
  std::uint32_t count = 0;
  std::uint32_t needed = 0;  // sectors that lanes with neighbouring elements would touch, if fewer
  bool consecutive = false;  // the sectors are one after the other
  bool whole = false;        // each of them is touched as recorded in `who`
  // Relative to the sector of the first address; ascending.
  std::int32_t sector[kLanes];
  // If lanes touch the whole sector, one element after the other in ascending order: pattern and
  // first lane as global_shadow.hpp keeps them. 0: the sector is touched otherwise.
  alignas(kRowAlignment) std::uint64_t who[kLanes];

  // Works the shape out. `bytes`: of each lane; a power of two up to kMostLaneBytes.
  void find(const LaneAddresses& addresses, std::uint32_t bytes);
};

// The words of 4 bytes of shared memory that are touched, each once, in runs of consecutive words.
struct WordShape : Shape {
  struct Run {
    std::int32_t word = 0;  // the first word, relative to that of the first address
    std::uint32_t count = 0;
  };
  std::uint32_t runs = 0;
  std::uint32_t wavefronts = 0, bank_conflicts = 0;
  Run run[kLanes];
  // For each word, run after run: the lowest lane that touches it, and kMany if others do.
  Who who[kLanes * kMostSharedLaneBytes / 4];

  // `bytes`: of each lane; a power of two up to kMostSharedLaneBytes.
  void find(const LaneAddresses& addresses, std::uint32_t bytes);
};

// The last shapes of an instruction.
class ShapeMemo {
 public:
  const SectorShape& sectors(const LaneAddresses& addresses, std::uint32_t bytes) {
    const auto phase = static_cast<std::uint32_t>(addresses.first % kSectorBytes);
    std::unique_ptr<SectorShape>& shape = sectors_[phase / 4];
    if (shape == nullptr) shape = std::make_unique<SectorShape>();
    if (!shape->matches(addresses, phase)) [[unlikely]] {
      shape->find(addresses, bytes);
    }
    return *shape;
  }
  const WordShape& words(const LaneAddresses& addresses, std::uint32_t bytes) {
    const auto phase = static_cast<std::uint32_t>(addresses.first % 4);
    std::unique_ptr<WordShape>& shape = words_[phase / 2];
    if (shape == nullptr) shape = std::make_unique<WordShape>();
    if (!shape->matches(addresses, phase)) [[unlikely]] {
      shape->find(addresses, bytes);
    }
    return *shape;
  }

 private:
  std::array<std::unique_ptr<SectorShape>, kSectorBytes / 4> sectors_;  // indexed by phase
  std::array<std::unique_ptr<WordShape>, 2> words_;
};

}  // namespace krl::machine
