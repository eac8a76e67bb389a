// The bulk copies of a block that have not arrived (cp.async.bulk). Those to shared memory arrive,
// one after the other, when a thread looks at their mbarrier for the second time and finds its phase
// incomplete; those to global memory when the thread that began them waits for their group, or its block ends. Used by
// one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/backends/cpu/machine/critical_path.hpp"
#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/combination.hpp"
#include "plugins/backends/cpu/machine/memory/tensor_map.hpp"

namespace krl::machine {

struct BulkCopy {
  MemoryAccess* access = nullptr;
  std::uint32_t line = 0;
  std::uint32_t warp = 0;
  unsigned lane = 0;
  std::uint32_t offset = 0;          // in shared memory
  std::vector<TensorMap::Run> runs;  // in global memory: one, or rows of a tensor's box
  const TensorMap* map = nullptr;    // its tensor, if it is a copy of one
  std::vector<std::byte> data;       // to shared memory: as it will lie there; else as in the box
  Combination combine = nullptr;     // null: the data replaces what is there
  MemoryLevel level = MemoryLevel::kNone;  // to shared memory: where the data was
  std::uint64_t number = 0;                // … copies that began before it
  std::uint32_t group = 0;                 // to global memory: of its thread
  bool reading = true;                     // … shared memory must not change yet

  std::uint32_t bytes() const { return static_cast<std::uint32_t>(data.size()); }
  std::uint32_t thread() const { return warp * kLanes + lane; }
};

class BulkCopies {
 public:
  void begin_block() {
    if (used_) *this = {};
  }

  // ---- to shared memory; `barrier`: the offset of its mbarrier ----
  void begin_load(std::uint32_t barrier, BulkCopy copy) {
    used_ = true;
    copy.number = began_++;
    loads_[barrier].copies.push_back(std::move(copy));
  }
  // A thread has looked at the barrier in vain: what is under way may arrive at the next look.
  void look_at(std::uint32_t barrier) {
    if (loads_.empty()) return;
    const auto found = loads_.find(barrier);
    if (found != loads_.end()) found->second.due = found->second.copies.size();
  }
  bool is_due(std::uint32_t barrier) const {
    if (loads_.empty()) return false;
    const auto found = loads_.find(barrier);
    return found != loads_.end() && found->second.due > 0;
  }
  // The first of those for a barrier, of which one is due.
  BulkCopy take_load(std::uint32_t barrier) {
    const auto found = loads_.find(barrier);
    Loads& loads = found->second;
    BulkCopy first = std::move(loads.copies.front());
    loads.copies.pop_front();
    --loads.due;
    if (loads.copies.empty()) loads_.erase(found);
    return first;
  }
  // True if one has to wait for a load: it began after the last for which one had to. Those under
  // way at the same time are waited for together.
  bool has_to_wait(const BulkCopy& load) {
    if (load.number < waited_) return false;
    waited_ = began_;
    return true;
  }
  // Null: there is none.
  const BulkCopy* any_load() const {
    return loads_.empty() ? nullptr : &loads_.begin()->second.copies.front();
  }

  // ---- to global memory ----
  void begin_store(BulkCopy copy) {
    used_ = true;
    copy.group = groups_[copy.thread()];
    store_bytes_ += copy.bytes();
    stores_.push_back(std::move(copy));
  }
  // True: older ones have to arrive, so that memory is bounded. They may at any time.
  bool too_many_stores() const {
    return stores_.size() > kMostStores || store_bytes_ > kMostStoreBytes;
  }
  void commit(std::uint32_t thread) {
    used_ = true;
    ++groups_[thread];
  }
  // A thread waits until at most `pending` of its groups are under way: calls end_read(copy) for each
  // copy of the others that still reads, and, unless `reads` is set, arrive(copy).
  template <class EndRead, class Arrive>
  void wait(std::uint32_t thread, std::uint32_t pending, bool reads, const EndRead& end_read,
            const Arrive& arrive) {
    const auto due = [&](const BulkCopy& copy) {
      return copy.thread() == thread && std::uint64_t{copy.group} + pending < groups_[thread];
    };
    for (auto at = stores_.begin(); at != stores_.end();) {
      if (!due(*at)) {
        ++at;
        continue;
      }
      if (std::exchange(at->reading, false)) end_read(*at);
      if (reads) {
        ++at;
        continue;
      }
      const BulkCopy copy = std::move(*at);
      at = stores_.erase(at);
      store_bytes_ -= copy.bytes();
      arrive(copy);
    }
  }
  BulkCopy take_store() {
    BulkCopy first = std::move(stores_.front());
    stores_.pop_front();
    store_bytes_ -= first.bytes();
    return first;
  }
  const std::deque<BulkCopy>& stores() const { return stores_; }

 private:
  static constexpr std::size_t kMostStores = 1024, kMostStoreBytes = std::size_t{4} << 20;

  bool used_ = false;  // since the block began
  struct Loads {
    std::deque<BulkCopy> copies;
    std::size_t due = 0;  // the first of them
  };
  std::unordered_map<std::uint32_t, Loads> loads_;
  std::uint64_t began_ = 0, waited_ = 0;
  std::deque<BulkCopy> stores_;
  std::size_t store_bytes_ = 0;
  std::array<std::uint32_t, kWarpsPerBlock * kLanes> groups_{};  // committed by each thread
};

}  // namespace krl::machine
