#include "plugins/backends/compiled/occupancy.hpp"

#include <gtest/gtest.h>

namespace krl::compiled {
namespace {

Occupancy occupancy_on(const char* arch, const BlockResources& block) {
  return theoretical_occupancy(*find_arch(arch), block);
}

// Worked out by hand from the limits of the CUDA C++ Programming Guide.
TEST(Occupancy, IsLimitedByTheScarcestResource) {
  struct {
    const char* arch;
    BlockResources block;
    int blocks;
    double fraction;
    const char* limiter;
  } const cases[] = {
      {"sm_90", {256, 32}, 8, 1, "registers"},  // 8 x 256 x 32 registers are all 65,536
      {"sm_90", {256, 24}, 8, 1, "threads"},
      {"sm_90", {256, 128}, 2, 0.25, "registers"},
      {"sm_90", {256, 32, 0, 100 << 10}, 2, 0.25, "shared memory"},  // 2 x (100 + 1) KiB of 228
      {"sm_90", {256, 32, 60 << 10, 40 << 10}, 2, 0.25, "shared memory"},
      {"sm_90", {32, 16}, 32, 0.5, "blocks"},
      {"sm_90", {1, 16}, 32, 0.5, "blocks"},  // a warp, however few of its threads there are
      {"sm_86", {256, 24}, 6, 1, "threads"},
      {"sm_89", {32, 16}, 24, 0.5, "blocks"},
      {"sm_75", {1024, 32}, 1, 1, "threads"},
  };
  for (const auto& c : cases) {
    const Occupancy found = occupancy_on(c.arch, c.block);
    EXPECT_EQ(found.blocks_per_sm, c.blocks) << c.arch << " " << c.block.threads;
    EXPECT_DOUBLE_EQ(found.fraction, c.fraction) << c.arch << " " << c.block.threads;
    EXPECT_EQ(found.limiter, c.limiter) << c.arch << " " << c.block.threads;
  }
}

TEST(Occupancy, IsZeroForABlockThatDoesNotFit) {
  EXPECT_EQ(occupancy_on("sm_90", {512, 255}).blocks_per_sm, 0);
  EXPECT_EQ(occupancy_on("sm_90", {512, 255}).limiter, "registers");
  EXPECT_EQ(occupancy_on("sm_86", {32, 16, 0, 120 << 10}).blocks_per_sm, 0);
  EXPECT_EQ(occupancy_on("sm_86", {32, 16, 0, 120 << 10}).limiter, "shared memory");
}

TEST(ComputeCapability, IsFoundByItsArchitecture) {
  EXPECT_EQ(find_arch("sm_90")->shared_per_block, 232448);
  EXPECT_EQ(find_arch("sm_90a"), find_arch("sm_90"));
  EXPECT_EQ(find_arch("sm_100")->major, 10);
  EXPECT_EQ(find_arch("sm_52"), nullptr);
  EXPECT_EQ(find_arch("sm_90")->full_arch(), "sm_90a");
  EXPECT_EQ(find_arch("sm_89")->full_arch(), "sm_89");
  EXPECT_EQ(find_arch("90"), nullptr);
  EXPECT_EQ(find_arch(""), nullptr);
}

}  // namespace
}  // namespace krl::compiled
