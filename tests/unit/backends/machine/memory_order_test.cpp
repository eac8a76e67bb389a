// The memory of blocks by itself: what orders accesses, without a program around it.
#include <gtest/gtest.h>

#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/memory/access.hpp"
#include "plugins/backends/cpu/machine/memory/block_memory.hpp"

namespace krl::machine {
namespace {

// A launch with one buffer of 1024 words, and 4 KiB of shared memory in each block.
class MemoryOrder : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kBytes = 4096;

  MemoryOrder() : launch_(variables_, arena_) {
    launch_.begin_run({{"x", 0, kBytes, 4, true, cpu::Role::kOutput}});
    program_.functions.push_back(std::make_unique<Function>());
    for (auto* access : {&load_, &store_}) {
      program_.functions.back()->accesses.push_back({*access, [](MemoryAccess*) {}});
    }
    load_[0].kind = AccessKind::kLoad;
    store_[0].kind = AccessKind::kStore;
    begin_launch();
  }

  void begin_launch() { launch_.begin_launch(program_, {64, 1, 1}, {}, kBytes); }

  Request request(std::uint32_t warp, bool write) {
    return {write ? store_[0] : load_[0], 7, warp, 1, 4, write, false, false, nullptr};
  }
  // Lane i accesses word first + i * stride; a store stores `value`.
  void access(BlockMemory& block, bool shared, std::uint32_t warp, bool write, std::uint32_t first,
              std::int32_t stride = 1, std::uint32_t value = 1) {
    LaneAddresses addresses;
    addresses.first = first * 4 + (shared ? 0 : launch_.address_of(0));
    addresses.mask = kAllLanes;
    for (unsigned i = 0; i < kLanes; ++i) {
      addresses.delta[i] = static_cast<std::int32_t>(i) * 4 * stride;
    }
    std::uint32_t values[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) values[i] = value == 0 ? i : value;
    StoredValues stored;
    stored.rows[0] = reinterpret_cast<const std::byte*>(values);
    stored.row_bytes[0] = 4;
    Request now = request(warp, write);
    if (write) now.values = &stored;
    const Shape* shape = nullptr;
    std::byte* const at = shared ? block.access_shared(now, addresses, &shape)
                                 : block.access_global(now, addresses, &shape);
    for (unsigned i = 0; write && i < kLanes; ++i) {
      std::memcpy(at + addresses.delta[i], values + i, sizeof values[i]);
    }
  }
  void load(BlockMemory& block, std::uint32_t warp, std::uint32_t first, std::int32_t stride = 1) {
    access(block, false, warp, false, first, stride);
  }
  void store(BlockMemory& block, std::uint32_t warp, std::uint32_t first, std::int32_t stride = 1,
             std::uint32_t value = 1) {
    access(block, false, warp, true, first, stride, value);
  }

  alignas(4096) std::byte arena_[kBytes] = {};
  std::vector<GlobalVariable> variables_;
  MemoryAccess load_[1], store_[1];
  Program program_;
  LaunchMemory launch_;
};

TEST_F(MemoryOrder, StoresOfTwoBlocksRaceUnlessTheValueIsThere) {
  BlockMemory a(launch_), b(launch_);
  a.begin_block(2);
  store(a, 0, 0);
  b.begin_block(2);
  store(b, 0, 0);  // the same value
  EXPECT_THROW(store(b, 0, 0, 1, 5), Fault);
}

TEST_F(MemoryOrder, FencesOfBothBlocksOrderThem) {
  BlockMemory a(launch_), b(launch_);
  a.begin_block(2);
  b.begin_block(2);
  store(a, 0, 0);
  EXPECT_THROW(load(b, 0, 0), Fault);
  a.fence(0, kAllLanes, FenceScope::kBlock);
  b.fence(0, kAllLanes, FenceScope::kDevice);
  EXPECT_THROW(load(b, 0, 0), Fault) << "a fence of the block is none for other blocks";
  a.fence(0, kAllLanes, FenceScope::kDevice);
  EXPECT_TRUE(launch_.encounters().empty());
  load(b, 0, 0);
  const std::vector<cpu::Encounter> expected = {{0, 7, "x[0]"}};
  EXPECT_EQ(launch_.encounters(), expected);
  a.barrier_passed();
  store(a, 0, 32);
  EXPECT_THROW(load(b, 0, 32), Fault) << "the fence came before the store";
}

// As a group of warps hands over: all lanes store, they meet, and one of them fences for all.
TEST_F(MemoryOrder, AFenceIsOneOfTheLanesMetBefore) {
  BlockMemory a(launch_);
  a.begin_block(2);
  store(a, 0, 0);
  a.fence(0, 1, FenceScope::kBlock);
  a.fence(1, kAllLanes, FenceScope::kBlock);
  EXPECT_THROW(store(a, 1, 0, 1, 5), Fault) << "of one lane, which the others have not met";
  a.begin_block(2);
  store(a, 0, 64);
  a.lanes_met(0, kAllLanes);
  a.fence(0, 1, FenceScope::kBlock);
  a.fence(1, kAllLanes, FenceScope::kBlock);
  store(a, 1, 64, 1, 5);
}

TEST_F(MemoryOrder, TheEndOfALaunchOrdersAll) {
  BlockMemory a(launch_);
  a.begin_block(2);
  store(a, 0, 0);
  begin_launch();
  a.begin_block(2);
  load(a, 1, 0);
  store(a, 1, 0, 1, 5);
  EXPECT_TRUE(launch_.encounters().empty());
}

TEST_F(MemoryOrder, WholeSectorsAndPartsOfThemAreOneMemory) {
  BlockMemory a(launch_);
  a.begin_block(2);
  store(a, 0, 0);                         // whole sectors
  EXPECT_THROW(load(a, 1, 3, 0), Fault);  // one word
  a.barrier_passed();
  load(a, 0, 3, 0);
  EXPECT_THROW(store(a, 1, 0, 1, 5), Fault);
  a.barrier_passed();
  store(a, 1, 0, 1, 6);
  load(a, 1, 0);  // its own
  EXPECT_THROW(load(a, 1, 1), Fault) << "another lane's, and nothing in between";
  a.lanes_met(1, kAllLanes);
  load(a, 1, 1);
}

TEST_F(MemoryOrder, LanesOfOneStoreMustAgree) {
  BlockMemory a(launch_);
  a.begin_block(2);
  store(a, 0, 0, 0, 3);
  EXPECT_THROW(store(a, 0, 8, 0, 0), Fault);
}

TEST_F(MemoryOrder, SharedMemoryIsNewInEachBlock) {
  BlockMemory a(launch_);
  a.begin_block(2);
  access(a, true, 0, true, 0);
  a.barrier_passed();
  access(a, true, 1, false, 0);
  a.begin_block(2);
  EXPECT_THROW(access(a, true, 0, false, 0), Fault);
}

// More warp-wide operations than there are stamps, without a barrier.
TEST_F(MemoryOrder, StampsThatRunOutForgetNoInitialisation) {
  BlockMemory a(launch_);
  a.begin_block(2);
  access(a, true, 0, true, 0);
  for (std::uint32_t i = 0; i < kStamps + 1000; ++i) {
    a.lanes_met(0, kAllLanes);
    access(a, true, 0, false, 0);
    if (i % 1024 == 0) store(a, 0, 64);
  }
  access(a, true, 0, false, 0);
  EXPECT_THROW(access(a, true, 0, false, 512), Fault);
  store(a, 1, 0);
  EXPECT_THROW(store(a, 0, 0, 1, 9), Fault);
}

TEST_F(MemoryOrder, LevelsAreThoseOfBlocks) {
  BlockMemory a(launch_), b(launch_);
  a.begin_block(1);
  load(a, 0, 0);
  load(a, 0, 0);
  b.begin_block(1);
  load(b, 0, 0);
  store(b, 0, 32);
  load(b, 0, 32);
  const cpu::Counters counters = launch_.end_launch();
  EXPECT_EQ(counters.global_load_sectors, 16u);
  EXPECT_EQ(counters.dram_load_sectors, 4u);
  EXPECT_EQ(counters.l1_sectors, 4u);
  EXPECT_EQ(counters.l2_sectors, 8u);
  EXPECT_EQ(counters.dram_store_sectors, 4u);
}

}  // namespace
}  // namespace krl::machine
