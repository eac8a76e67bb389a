#include "plugins/backends/cpu/machine/memory/synchronisation.hpp"

#include <bit>

namespace krl::machine {
namespace {

constexpr std::uint64_t kShared = std::uint64_t{1} << 63;  // a word of shared memory

// `words`: the new knowledge replaces the old, unless the write is an atomic operation.
void publish(SyncWords* words, std::uint64_t word, const Knowledge& what, bool atomic) {
  if (what.empty()) {
    if (!atomic && !words->empty()) words->erase(word);
  } else if (atomic) {
    (*words)[word].join(what);
  } else {
    (*words)[word] = what;
  }
}

void add_published(const SyncWords& words, std::uint64_t word, Knowledge* to) {
  if (words.empty()) return;
  const auto found = words.find(word);
  if (found != words.end()) to->join(found->second);
}

}  // namespace

void Synchronisation::begin_block(std::uint32_t block) {
  for (; active_ != 0; active_ &= active_ - 1) warps_[std::countr_zero(active_)] = {};
  block_ = block;
  known_ = {};
  gathered_ = {};
  words_.clear();
}

// At a barrier, what has been taken up becomes known without a fence: CUDA's own samples read data
// that other blocks published after only an atomic operation and a barrier.
void Synchronisation::barrier() {
  for (; active_ != 0; active_ &= active_ - 1) {
    Warp& warp = warps_[std::countr_zero(active_)];
    known_.join(warp.known);
    known_.join(warp.taken_up);
    known_.join(warp.taken_up_of_block);
    gathered_.join(warp.gathered);
    warp = {};
  }
}

void Synchronisation::acquire(std::uint32_t warp, Scope scope) {
  Warp& own = active(warp);
  own.known.join(own.taken_up_of_block);
  if (scope == Scope::kDevice) own.known.join(own.taken_up);
}

void Synchronisation::release(std::uint32_t warp, Mask lanes, Scope scope, const Knowledge& own) {
  Warp& fencing = active(warp);
  fencing.fenced |= lanes;
  Knowledge before = known_;
  before.join(fencing.known);
  before.join(own);
  fencing.gathered.join({scope == Scope::kDevice ? before : Knowledge(), before});
}

void Synchronisation::add_learned(std::uint32_t warp, const Knowledge& known, Knowledge* to) const {
  if (!is_active(warp)) return;
  const Warp& own = warps_[warp];
  if (!(own.known == known)) to->join(own.known);
  to->join(own.taken_up);
  to->join(own.taken_up_of_block);
}

Knowledge Synchronisation::fenced(std::uint32_t warp, Mask lanes) const {
  Knowledge all = gathered_.of_device;
  if ((warps_[warp].fenced & lanes) != 0) all.join(warps_[warp].gathered.of_device);
  return all;
}

void Synchronisation::read(const SyncWords* words, std::uint64_t word, std::uint32_t warp,
                           Scope scope) {
  if (words_.empty() && (words == nullptr || words->empty())) return;
  Warp& reading = active(warp);
  add_published(words_, words == nullptr ? word | kShared : word, &reading.taken_up_of_block);
  if (words != nullptr && scope == Scope::kDevice) add_published(*words, word, &reading.taken_up);
}

Knowledge Synchronisation::published_shared(std::uint64_t word) const {
  const auto found = words_.find(word | kShared);
  return found == words_.end() ? Knowledge() : found->second;
}

void Synchronisation::write(SyncWords* words, std::uint64_t word, std::uint32_t warp,
                            std::uint32_t lane, Scope scope, bool atomic) {
  Gathered all = gathered_;
  if ((warps_[warp].fenced >> lane & 1) != 0) all.join(warps_[warp].gathered);
  if (words == nullptr) return publish(&words_, word | kShared, all.of_block, atomic);
  publish(words, word, scope == Scope::kDevice ? all.of_device : Knowledge(), atomic);
  const bool more = scope == Scope::kBlock || !(all.of_block == all.of_device);
  publish(&words_, word, more ? all.of_block : Knowledge(), atomic);
}

}  // namespace krl::machine
