// The memory visible to the threads of one block, with its checks: shared memory and its shadow,
// the local memory of the threads, the order of accesses. One object per resident block, reused for
// one block after another. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/backends/cpu/machine/critical_path.hpp"
#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/async_copies.hpp"
#include "plugins/backends/cpu/machine/memory/async_proxy.hpp"
#include "plugins/backends/cpu/machine/memory/bulk_copies.hpp"
#include "plugins/backends/cpu/machine/memory/cluster.hpp"
#include "plugins/backends/cpu/machine/memory/launch_memory.hpp"
#include "plugins/backends/cpu/machine/memory/local_memory.hpp"
#include "plugins/backends/cpu/machine/memory/order.hpp"
#include "plugins/backends/cpu/machine/memory/polls.hpp"
#include "plugins/backends/cpu/machine/memory/products_under_way.hpp"
#include "plugins/backends/cpu/machine/memory/request.hpp"
#include "plugins/backends/cpu/machine/memory/shared_memory.hpp"

namespace krl::machine {

class BlockMemory {
 public:
  explicit BlockMemory(LaunchMemory& launch)
      : launch_(launch), order_(launch.shadow()), shared_(launch.garbage()) {}

  // ---- for the block ----

  // A new block of the launch begins, where times are kept at `start`: no one has written its
  // shared and local memory. `cluster`: the block has joined it last; null: it is in none.
  void begin_block(std::uint32_t warps, double start = 0, Cluster* cluster = nullptr);
  // Threads of the block have passed a barrier: all accesses so far are ordered before all that
  // follow. (After a barrier of some threads too: that leans to silence.)
  void barrier_passed();
  // Records that lanes of a warp have executed a warp-wide operation together: their accesses so
  // far are ordered before the warp's later ones.
  void lanes_met(std::uint32_t warp, Mask lanes, Mask live) { order_.lanes_met(warp, lanes, live); }
  // Lanes of a warp executed a fence, or an access that is one.
  void fence(std::uint32_t warp, Mask lanes, Fence fence) {
    order_.fence(warp, lanes, fence);
    if (fence.releases() && fence.scope() == Scope::kDevice) path_.warp(warp).fence();
  }
  // Lanes of a warp executed fence.proxy.async for shared memory.
  void fence_proxy(std::uint32_t warp, Mask lanes) { proxy_.fence(order_, warp, lanes); }
  // True if the block has made an access in the held line since the last call.
  bool take_held() { return std::exchange(held_, false); }
  // Lanes of a warp have ended.
  void lanes_ended(std::uint32_t warp, Mask lanes) {
    if (cluster_ != nullptr) cluster_->lanes_ended(rank_, warp, lanes);
  }
  // The block has ended. Throws Fault.
  void end_block() {
    if (!products_.empty()) check_warpgroups();
    end_bulk_copies();
    path_.join();
    launch_.add_path(path_.path());
    if (cluster_ != nullptr) cluster_->end_block(rank_);
  }

  // ---- for the cluster ----

  Cluster* cluster() { return cluster_; }
  std::uint32_t rank() const { return rank_; }
  AccessOrder& order() { return order_; }
  // The block does not end before these accesses.
  void know_before_end(const Knowledge& what, const Knowledge& earlier) {
    known_before_end_.join(what, earlier);
  }
  // The block has ended. Throws Fault if an access of another block to its shared memory may come
  // later.
  void check_peers_are_done();

  // Returns the clocks since the launch began; only if times are kept.
  double now(std::uint32_t warp) const {
    return start_ + path_.clocks(warp, *launch_.path_clocks());
  }

  // ---- for operations ----

  LaunchMemory& launch() { return launch_; }
  bool keeps_time() const { return launch_.path_clocks() != nullptr; }
  // A warp reads what others may have written, strongly, and begins to at `now` at the earliest.
  // Returns when it does: not before all of it was written.
  double receive(std::uint32_t warp, const WatchedWords& words, double now);
  // A warp writes words strongly.
  void hand_over(std::uint32_t warp, const WatchedWords& words, double now);
  // A warp read words of constant memory, or parameters: each address is a request of its own.
  void read_constant(const Request& request, const LaneAddresses& addresses);
  // A warp's atomic that is a loop took so many turns, at one word of shared memory.
  void loop(std::uint32_t offset, std::uint32_t turns) { path_.loop(offset, turns); }
  SharedMemory& shared() { return shared_; }
  LocalMemory& local(std::uint32_t warp) { return local_[warp]; }
  AsyncCopies& copies(std::uint32_t warp) { return copies_[warp]; }
  BulkCopies& bulk() { return bulk_; }
  WarpPath& path(std::uint32_t warp) { return path_.warp(warp); }
  std::uint32_t warps() const { return warps_; }  // warps of the block
  // A warp's asynchronous products; it belongs to a whole warpgroup.
  ProductsUnderWay& products(std::uint32_t warp) {
    if (products_.size() < warps_) [[unlikely]]
      products_.resize(warps_);
    return products_[warp];
  }

  // ---- accesses: checked, counted and made known to the shadow; they throw Fault ----

  // Accesses global memory by generic address. Returns the memory at addresses.first, the other
  // lanes' being at their deltas from it; a store may have been made already. Returns null if the
  // lanes do not all access the same buffer; nothing has happened then.
  std::byte* access_global(const Request& request, const LaneAddresses& addresses,
                           const Shape** shape);
  // Accesses shared memory by offset. In a cluster, other blocks' shared memory has offsets, too
  // (address_space.hpp); all lanes access that of the same block.
  std::byte* access_shared(const Request& request, const LaneAddresses& addresses,
                           const Shape** shape);

  // Reads 16 bytes of shared memory, which `request` describes, as tensor cores do. Counts nothing.
  const std::byte* read_chunk(const Request& request, unsigned lane, std::uint32_t offset);

  // One lane's access. True: it is a race unless it leaves the memory as it is, with `conflict`.
  // Counts nothing.
  bool enter_global(const Request& request, unsigned lane, const Region& region,
                    std::uint64_t address, Conflict* conflict);
  bool enter_shared(const Request& request, unsigned lane, std::uint32_t offset,
                    Conflict* conflict) {
    return enter_shared(request, lane, {*this, offset}, conflict);
  }
  // A place in shared memory of the block, or of another one of its cluster.
  struct SharedPlace {
    BlockMemory& owner;
    std::uint32_t offset;

    std::byte* at() const { return owner.shared_.data() + offset; }
  };
  bool enter_shared(const Request& request, unsigned lane, const SharedPlace& place,
                    Conflict* conflict);
  // The rank of the place's block, for faults; -1: the own one.
  std::int32_t rank_of(const SharedPlace& place) const {
    return &place.owner == this ? -1 : static_cast<std::int32_t>(place.owner.rank_);
  }
  // The place of one lane's access, which is aligned and may be made.
  SharedPlace find_shared(const Request& request, unsigned lane, std::uint64_t offset);
  // Counts the data that an atomic operation of one lane moves, before the lane is recorded.
  void count_update(AccessCounts& counts, const Region& region, std::uint64_t address);
  // The region of one lane's access, which is aligned and may be made.
  Region& find_global(const Request& request, unsigned lane, std::uint64_t address);
  void check_shared(const Request& request, unsigned lane, std::uint64_t offset) const;
  // True if the block has written all of these words of shared memory.
  bool is_written(std::uint32_t offset, std::uint32_t bytes) const {
    return shared_.is_written(offset, bytes, order_.block_begin());
  }

  // An operation that one lane began reads words of shared memory through the asynchronous proxy.
  // Checks that they were written, that no copy to them is under way, and that all stores to them
  // are ordered and fenced; becomes known to the shadow. The range is inside. Throws Fault.
  void check_async_read(const Request& request, unsigned lane, std::uint32_t offset,
                        std::uint32_t bytes);
  // The last part of it by itself: all stores to these words came before a fence.proxy.async.
  void check_proxy(const Request& request, unsigned lane, std::uint32_t offset,
                   std::uint32_t bytes) const;

  // ---- bulk copies; all throw Fault ----
  // Reads the source of one, which may be anywhere, in parts of request.bytes, and returns where it
  // was.
  MemoryLevel read_bulk(const Request& request, unsigned lane, std::uint64_t address,
                        std::span<std::byte> to);
  // The same of a box of copy->map, whose data will lie at copy->offset.
  void read_box(const Request& request, const TensorMap::Place& corner, BulkCopy* copy);
  // Begins one to shared memory, or from there to global memory, where it may be anywhere. The range
  // of shared memory is inside and aligned. `barrier`: the offset of the mbarrier.
  void begin_bulk_load(std::uint32_t barrier, BulkCopy copy);
  void begin_bulk_store(BulkCopy copy);
  // A copy to shared memory arrives.
  void arrive(const BulkCopy& load);
  // The last mbarrier at which a thread had to wait, by its offset, and the thread's line; 0: none.
  struct Wait {
    std::uint32_t barrier = 0, line = 0;
  };
  void wait_at(Wait at) { wait_ = at; }
  const Wait& waits_at() const { return wait_; }
  // See BulkCopies::wait.
  void wait_for_stores(std::uint32_t thread, std::uint32_t pending, bool reads);

  // After a load that may be old: memory is again as it is.
  void show_present();

  // A lane's asynchronous copy arrives; all of the lanes' copies do.
  void end_copy(std::uint32_t warp, const AsyncCopies::Copy& copy, unsigned lane);
  void finish_copies(std::uint32_t warp, Mask lanes);
  Who who(std::uint32_t warp, unsigned lane) { return present(warp) | lane << kLaneShift; }

 private:
  struct Sectors;  // sectors of an access to global memory

  Who present(std::uint32_t warp) {
    if (order_.ran_out()) [[unlikely]]
      renew_stamps();
    return order_.present(warp);
  }
  MemoryLevel count_bulk(const Request& request, const Region& region, std::uint64_t address,
                         std::uint32_t bytes);
  const Region& find_bulk(const Request& request, unsigned lane, std::uint64_t address,
                          std::uint32_t bytes);
  void end_read(const BulkCopy& store);
  void arrive_in_global(const BulkCopy& store);
  void arrive_in_global(const BulkCopy& store, const TensorMap::Run& run);
  void end_bulk_copies();
  void initialise_system_shared();
  void renew_stamps();
  void touch(Sectors& sectors);
  void count(Sectors& sectors);
  void touch_bytes(Sectors& sectors);
  void touch_bytes(const Request& request, unsigned lane, const Region& region,
                   std::uint64_t address);
  void read_four(Sectors& sectors, std::uint32_t index, std::uint32_t count);
  bool touch_four(Sectors& sectors, std::uint32_t index, std::uint32_t count);
  void touch_sector(Sectors& sectors, std::uint32_t index);
  void touch_by_lane(Sectors& sectors, std::int32_t sector);
  Access access_of(const Request& request, unsigned lane, bool shared);
  void synchronise(std::uint64_t address, std::uint32_t bytes, const Access& access);
  void keep_old(const Request& request, const Region& region, std::uint64_t address,
                const Access& access);
  bool show_old(const Request& request, const Region& region, std::uint64_t address,
                const Access& access, Record write);
  void keep_old_shared(const Request& request, std::uint32_t offset, Who who);
  bool show_old_shared(const Request& request, std::uint32_t offset, Who write);
  std::uint64_t place_of_shared(std::uint32_t offset) const;
  void hide(std::byte* at, const OldValue& old);
  void note_encounter(const Request& request, bool shared, unsigned lane, std::uint64_t address);
  void access_shared_by_lane(const Request& request, const LaneAddresses& addresses,
                             BlockMemory& owner);
  // An access of a thread of another block to this one's shared memory.
  struct PeerAccess {
    Record record = 0;
    std::uint32_t rank = 0, line = 0;
    bool write = false;
  };
  void note_peer(const PeerAccess& access, std::uint32_t word);
  std::byte* access_peer(const Request& request, const LaneAddresses& addresses,
                         const Shape** shape);
  BlockMemory& find_peer(const Request& request, unsigned lane, std::uint64_t offset);
  void synchronise_shared(const SharedPlace& place, std::uint32_t bytes, const Access& access);
  void check_warpgroups() const;

  LaunchMemory& launch_;
  AccessOrder order_;
  SharedMemory shared_;
  AsyncProxy proxy_;
  std::array<LocalMemory, kWarpsPerBlock> local_;
  std::array<AsyncCopies, kWarpsPerBlock> copies_;
  std::vector<ProductsUnderWay> products_;  // by warp; empty until needed
  std::uint32_t warps_ = 0;
  BulkCopies bulk_;
  Wait wait_;
  BlockPath path_;
  double start_ = 0;
  bool held_ = false;
  Cluster* cluster_ = nullptr;
  std::uint32_t rank_ = 0;  // in the cluster
  // The last plain access of each thread of another block, by rank, warp and lane; and the last
  // strong one to each word, unless this block has looked at the word since.
  std::unordered_map<std::uint32_t, PeerAccess> plain_peers_, strong_peers_;
  Knowledge known_before_end_;
  // For old values: the version of the write that the block has seen, by address, and the newer
  // value that the old one hides.
  struct Hidden {
    std::byte* at;
    std::uint32_t bytes;
    std::array<std::byte, OldValue::kMostBytes> value;
  };
  std::unordered_map<std::uint64_t, std::uint64_t> seen_;
  std::vector<Hidden> hidden_;
};

}  // namespace krl::machine
