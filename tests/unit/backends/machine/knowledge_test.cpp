// Vector clocks against a plain table of what each of them was told.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "plugins/backends/cpu/machine/memory/knowledge.hpp"

namespace krl::machine {
namespace {

Record access_of(std::uint32_t block, std::uint32_t warp, std::uint32_t lane, std::uint32_t stamp) {
  return bound_of(block, first_of_stamp(stamp) | warp << kWarpShift | lane << kLaneShift);
}

TEST(Knowledge, IsOfBlocksWarpsAndLanes) {
  Knowledge known;
  EXPECT_FALSE(known.covers(1, access_of(1, 0, 0, 0)));
  known.add_block(1, bound_of(1, first_of_stamp(5)));
  known.add_warp(1, 3, {bound_of(1, first_of_stamp(7)), bound_of(1, first_of_stamp(9)), 0b10});
  EXPECT_TRUE(known.covers(1, access_of(1, 2, 0, 4)));
  EXPECT_FALSE(known.covers(1, access_of(1, 2, 0, 5)));
  EXPECT_TRUE(known.covers(1, access_of(1, 3, 0, 6)));
  EXPECT_FALSE(known.covers(1, access_of(1, 3, 0, 7)));
  EXPECT_TRUE(known.covers(1, access_of(1, 3, 1, 8)));
  EXPECT_FALSE(known.covers(1, access_of(1, 3, 1, 9)));
  EXPECT_FALSE(known.covers(2, access_of(2, 3, 1, 1)));
  EXPECT_TRUE(known.covers(1, access_of(1, 2, 0, 4) | Record{3} << kPatternShift));
}

// A long block goes on under another serial.
TEST(Knowledge, LaterSerialsAreLater) {
  Knowledge known;
  known.add_block(1, bound_of(4, first_of_stamp(5)));
  EXPECT_TRUE(known.covers(1, access_of(1, 0, 0, 1000)));
  EXPECT_TRUE(known.covers(1, access_of(4, 0, 0, 4)));
  EXPECT_FALSE(known.covers(1, access_of(4, 0, 0, 5)));
}

TEST(Knowledge, JoinsAreUnions) {
  std::mt19937 random(7);
  const auto draw = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  constexpr std::uint32_t kBlocks = 200, kWarps = 3, kStampsDrawn = 20;
  using Table = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;
  std::vector<std::pair<Knowledge, Table>> clocks(8);
  for (int round = 0; round < 4000; ++round) {
    auto& [known, table] = clocks[draw(8)];
    if (draw(3) == 0) {
      const auto& [other, other_table] = clocks[draw(8)];
      known.join(other);
      for (const auto& [key, stamp] : other_table) table[key] = std::max(table[key], stamp);
    } else {
      const std::uint32_t block = 1 + draw(kBlocks), warp = draw(kWarps),
                          stamp = draw(kStampsDrawn);
      known.add_warp(block, warp, {bound_of(block, first_of_stamp(stamp)), 0, 0});
      std::uint32_t& there = table[{block, warp}];
      there = std::max(there, stamp);
    }
    if (draw(50) == 0) clocks[draw(8)] = {};
  }
  for (const auto& [known, table] : clocks) {
    for (std::uint32_t block = 1; block <= kBlocks; ++block) {
      for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
        const auto found = table.find({block, warp});
        const std::uint32_t stamp = found == table.end() ? 0 : found->second;
        EXPECT_FALSE(known.covers(block, access_of(block, warp, 0, stamp)));
        if (stamp == 0) continue;
        EXPECT_TRUE(known.covers(block, access_of(block, warp, 0, stamp - 1)));
      }
    }
  }
}

TEST(Knowledge, WhatIsKnownAlreadyChangesNothing) {
  Knowledge known, part;
  for (std::uint32_t block = 1; block < 100; ++block) {
    known.add_block(block, bound_of(block, first_of_stamp(9)));
    if (block % 3 == 0) part.add_block(block, bound_of(block, first_of_stamp(5)));
  }
  const Knowledge before = known;
  known.join(part);
  EXPECT_TRUE(known == before) << "the same parts";
  part.join(known);
  EXPECT_TRUE(part == known);
}

}  // namespace
}  // namespace krl::machine
