// The identity of an access in 32 bits, as the shadow of memory keeps it.
//
//   stamp (18) | warp (5) | lane (5) | flags (4)
//
// A block deals out stamps in ascending order; a warp takes a new one after each barrier and each
// warp-wide operation. So accesses with a stamp below that of the last barrier are ordered before
// the present ones, two stamps of one warp mean a warp-wide operation in between, and within one
// stamp only the accesses of one lane are ordered.
#pragma once

#include <cstdint>

namespace krl::machine {

using Who = std::uint32_t;

inline constexpr unsigned kLaneShift = 4, kWarpShift = 9, kStampShift = 14;
inline constexpr std::uint32_t kStamps = 1u << (32 - kStampShift);

inline constexpr Who kStrong = 1;     // volatile, relaxed or atomic: strong accesses do not race
inline constexpr Who kMany = 2;       // read by several lanes; or written alike by several threads
inline constexpr Who kManyWarps = 4;  // read by more warps; written by atomics of more warps
// The cell refers to finer cells, or to a copy under way; or a copy (cp.async) wrote the word.
inline constexpr Who kElsewhere = 8;

inline constexpr Who first_of_stamp(std::uint32_t stamp) { return stamp << kStampShift; }
inline constexpr std::uint32_t stamp_of(Who who) { return who >> kStampShift; }
inline constexpr std::uint32_t warp_of(Who who) { return who >> kWarpShift & 31; }
inline constexpr std::uint32_t lane_of(Who who) { return who >> kLaneShift & 31; }
inline constexpr bool same_warp(Who a, Who b) { return ((a ^ b) >> kWarpShift & 31) == 0; }
inline constexpr bool same_stamp(Who a, Who b) { return (a ^ b) >> kWarpShift == 0; }

// serial of the block (28) | pattern (4) | Who (32). For a sector, the pattern is 1 + the binary
// logarithm of the bytes of an element, and the lane in Who is that of the first element; for a
// word or byte it is 0.
using Record = std::uint64_t;
inline constexpr unsigned kSerialShift = 36, kPatternShift = 32;
inline constexpr std::uint32_t serial_of(Record record) {
  return static_cast<std::uint32_t>(record >> kSerialShift);
}
inline constexpr Who who_of(Record record) { return static_cast<Who>(record); }

}  // namespace krl::machine
