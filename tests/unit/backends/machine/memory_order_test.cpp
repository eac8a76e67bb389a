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
    cpu::Run run;
    run.buffers = {{"x", 0, kBytes, 4, true, cpu::Role::kInOut}};
    launch_.begin_run(run);
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

  // By one lane. True: it is a race if it changes the word.
  enum Strong { kLoad, kStore, kAtomic };
  bool strong(BlockMemory& block, std::uint32_t warp, Strong kind, std::uint32_t word) {
    const Request now{strong_[kind], 7, warp, 1, 4, kind != kLoad, true, kind == kAtomic, nullptr};
    const std::uint64_t address = launch_.address_of(0) + word * 4;
    Conflict conflict;
    return block.enter_global(now, 0, block.find_global(now, 0, address), address, &conflict);
  }

  alignas(4096) std::byte arena_[kBytes] = {};
  std::vector<GlobalVariable> variables_;
  MemoryAccess load_[1], store_[1], strong_[3];
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

// Word 128 is a flag of what is in words 0 to 31.
TEST_F(MemoryOrder, FencesAroundAStrongWriteAndAReadOfItOrderBlocks) {
  BlockMemory a(launch_), b(launch_);
  a.begin_block(2);
  b.begin_block(2);
  store(a, 0, 0);
  EXPECT_THROW(load(b, 0, 0), Fault);
  a.fence(0, kAllLanes, kFenceOfDevice);
  strong(a, 0, kStore, 128);
  strong(b, 0, kLoad, 128);
  EXPECT_THROW(load(b, 0, 0), Fault) << "the reader has not fenced";
  EXPECT_THROW(load(b, 1, 0), Fault);
  b.fence(0, 1, kFenceOfDevice);
  load(b, 0, 0);
  const std::vector<cpu::Encounter> expected = {{0, 7, "x[128]"}};
  EXPECT_EQ(launch_.encounters(), expected);
  EXPECT_THROW(load(b, 1, 0), Fault) << "another warp";
  b.barrier_passed();
  load(b, 1, 0);
}

TEST_F(MemoryOrder, AFenceAtTheWrongPlaceOrdersNothing) {
  BlockMemory a(launch_), b(launch_);
  a.begin_block(2);
  b.begin_block(2);
  a.fence(0, kAllLanes, kFenceOfDevice);
  store(a, 0, 0);
  strong(a, 0, kStore, 128);
  strong(b, 0, kLoad, 128);
  b.fence(0, kAllLanes, kFenceOfDevice);
  EXPECT_THROW(load(b, 0, 0), Fault) << "before the data";
  a.fence(0, kAllLanes, kFenceOfDevice);
  b.fence(0, kAllLanes, kFenceOfDevice);
  EXPECT_THROW(load(b, 0, 0), Fault) << "after the flag";
  a.fence(1, kAllLanes, kFenceOfDevice);
  strong(a, 1, kStore, 128);
  strong(b, 0, kLoad, 128);
  b.fence(0, kAllLanes, kFenceOfDevice);
  EXPECT_THROW(load(b, 0, 0), Fault) << "of another warp, without a barrier";
  strong(a, 0, kStore, 129);
  strong(b, 0, kLoad, 128);
  b.fence(0, kAllLanes, kFenceOfDevice);
  EXPECT_THROW(load(b, 0, 0), Fault) << "another word";
  b.fence(0, kAllLanes, kFenceOfDevice);
  strong(b, 0, kLoad, 129);
  EXPECT_THROW(load(b, 0, 0), Fault) << "before the look at the flag";
}

TEST_F(MemoryOrder, ABarrierMakesAFenceOneOfTheBlock) {
  BlockMemory a(launch_), b(launch_);
  a.begin_block(2);
  b.begin_block(2);
  store(a, 1, 0);
  a.barrier_passed();
  a.fence(0, 1, kFenceOfDevice);
  strong(a, 0, kAtomic, 128);
  store(a, 1, 32);
  strong(b, 0, kAtomic, 128);
  b.barrier_passed();  // as in CUDA's samples, without a fence
  load(b, 1, 0);
  EXPECT_THROW(load(b, 1, 32), Fault) << "after the fence";
}

TEST_F(MemoryOrder, AtomicsKeepWhatTheWordHadAndStoresDoNot) {
  BlockMemory a(launch_), b(launch_), c(launch_);
  for (BlockMemory* block : {&a, &b, &c}) block->begin_block(1);
  store(a, 0, 0);
  a.fence(0, kAllLanes, kFenceOfDevice);
  strong(a, 0, kAtomic, 128);
  strong(a, 0, kAtomic, 129);
  strong(b, 0, kAtomic, 128);
  strong(b, 0, kStore, 129);
  strong(c, 0, kLoad, 129);
  c.fence(0, kAllLanes, kFenceOfDevice);
  EXPECT_THROW(load(c, 0, 0), Fault);
  strong(c, 0, kLoad, 128);
  c.fence(0, kAllLanes, kFenceOfDevice);
  load(c, 0, 0);
}

TEST_F(MemoryOrder, WhatABlockHasLearnedItPublishes) {
  BlockMemory a(launch_), b(launch_), c(launch_);
  for (BlockMemory* block : {&a, &b, &c}) block->begin_block(1);
  store(a, 0, 0);
  a.fence(0, kAllLanes, kFenceOfDevice);
  strong(a, 0, kStore, 128);
  strong(b, 0, kLoad, 128);
  b.fence(0, kAllLanes, kFenceOfDevice);
  strong(b, 0, kStore, 129);
  strong(c, 0, kLoad, 129);
  c.fence(0, kAllLanes, kFenceOfDevice);
  load(c, 0, 0);
}

TEST_F(MemoryOrder, AFenceOfTheBlockIsNoneForOthers) {
  BlockMemory a(launch_), b(launch_);
  a.begin_block(2);
  b.begin_block(1);
  store(a, 0, 0);
  a.fence(0, kAllLanes, kFenceOfBlock);
  strong(a, 0, kAtomic, 128);
  strong(b, 0, kAtomic, 128);
  b.fence(0, kAllLanes, kFenceOfDevice);
  EXPECT_THROW(load(b, 0, 0), Fault);
  strong(a, 1, kAtomic, 128);
  a.fence(1, kAllLanes, kFenceOfBlock);
  load(a, 1, 0);
}

// As a group of warps hands over: all lanes store, they meet, and one of them fences for all.
TEST_F(MemoryOrder, AFenceIsOneOfTheLanesMetBefore) {
  BlockMemory a(launch_);
  a.begin_block(2);
  const auto hand_over = [&] {
    a.fence(0, 1, kFenceOfBlock);
    strong(a, 0, kStore, 128);
    strong(a, 1, kLoad, 128);
    a.fence(1, kAllLanes, kFenceOfBlock);
  };
  store(a, 0, 0);
  hand_over();
  EXPECT_THROW(store(a, 1, 0, 1, 5), Fault) << "of one lane, which the others have not met";
  a.begin_block(2);
  store(a, 0, 64);
  a.lanes_met(0, kAllLanes, kAllLanes);
  hand_over();
  store(a, 1, 64, 1, 5);
}

TEST_F(MemoryOrder, AFenceIsNoMeeting) {
  BlockMemory a(launch_);
  a.begin_block(1);
  store(a, 0, 0);
  a.fence(0, kAllLanes, kFenceOfDevice);
  load(a, 0, 0);
  EXPECT_THROW(load(a, 0, 1), Fault) << "another lane's";
}

TEST_F(MemoryOrder, AMeetingOrdersTheLanesThatTookPart) {
  for (const bool shared : {false, true}) {
    BlockMemory a(launch_);
    a.begin_block(1);
    access(a, shared, 0, true, 0);
    a.lanes_met(0, 0x0000ffff, kAllLanes);
    EXPECT_THROW(access(a, shared, 0, false, 31, -1), Fault)
        << "what lanes of the other half stored";
    a.lanes_met(0, 0xffff0000, kAllLanes);
    access(a, shared, 0, false, 31, -1);
  }
}

TEST_F(MemoryOrder, StrongStoresDoNotRace) {
  BlockMemory a(launch_), b(launch_);
  a.begin_block(1);
  b.begin_block(1);
  strong(a, 0, kStore, 128);
  strong(b, 0, kStore, 128);
  strong(b, 0, kAtomic, 128);
  EXPECT_EQ(launch_.encounters().size(), 1u) << "but they meet";
  strong_[kAtomic].block_scope = true;
  EXPECT_TRUE(strong(a, 0, kAtomic, 128)) << "an atomic of the block's scope on another's word";
}

TEST_F(MemoryOrder, AStrongReadOfAPlainStoreRaces) {
  BlockMemory a(launch_), b(launch_);
  a.begin_block(1);
  b.begin_block(1);
  store(a, 0, 0);
  EXPECT_THROW(strong(b, 0, kLoad, 0), Fault);
  EXPECT_THROW(strong(b, 0, kAtomic, 0), Fault);
}

TEST_F(MemoryOrder, TheReadOnlyCacheIsForWhatNobodyWrites) {
  BlockMemory a(launch_), b(launch_);
  a.begin_block(1);
  b.begin_block(1);
  store(a, 0, 0);
  a.fence(0, kAllLanes, kFenceOfDevice);
  strong(a, 0, kStore, 128);
  strong(b, 0, kLoad, 128);
  b.fence(0, kAllLanes, kFenceOfDevice);
  load(b, 0, 0);
  load_[0].read_only = true;
  load(b, 0, 32);
  EXPECT_THROW(load(b, 0, 0), Fault);
  begin_launch();
  b.begin_block(1);
  load(b, 0, 0);
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
  a.lanes_met(1, kAllLanes, kAllLanes);
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
    a.lanes_met(0, kAllLanes, kAllLanes);
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
