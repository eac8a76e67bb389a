// Knowledge of which accesses have happened before, as a vector clock: for blocks and single warps
// of a launch, up to which of their accesses.
//
// A value. Copies share their parts, so that a copy costs nothing and a join costs as much as the
// two differ, for any number of blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/memory/identity.hpp"

namespace krl::machine {

// Covers accesses with a lesser stamp: those of all lanes, and those of some.
struct Reach {
  Record all = 0, some = 0;
  Mask lanes = 0;

  bool operator==(const Reach&) const = default;
};

// Before the accesses of a block that begin with this stamp.
inline constexpr Record bound_of(std::uint32_t serial, Who stamp) {
  return Record{serial} << kSerialShift | stamp;
}

class Knowledge {
 public:
  bool empty() const { return root_ == nullptr; }
  bool operator==(const Knowledge&) const = default;  // the same parts

  // `block`: its first serial.
  void add_block(std::uint32_t block, Record all) { add(key_of(block, 0), {all, 0, 0}); }
  void add_warp(std::uint32_t block, std::uint32_t warp, const Reach& reach) {
    add(key_of(block, warp + 1), reach);
  }
  void join(const Knowledge& other) { root_ = joined(root_, other.root_); }
  // The same, where `other` covers all that `earlier` does.
  void join(const Knowledge& other, const Knowledge& earlier) {
    if (*this == earlier) {
      *this = other;
    } else {
      join(other);
    }
  }
  // True if an access by a warp of the block is covered.
  bool covers(std::uint32_t block, Record access) const;

 private:
  using Key = std::uint64_t;
  struct Node;
  using Tree = std::shared_ptr<const Node>;

  static constexpr Key key_of(std::uint32_t block, std::uint32_t part) {
    return Key{block} << 6 | part;
  }
  static Tree leaf(Key key, const Reach& reach);
  static Tree branch(Key key, Key bit, Tree zero, Tree one);
  static Tree with_child(const Tree& tree, Key key, const Tree& other);
  static Tree joined(const Tree& a, const Tree& b);
  void add(Key key, const Reach& reach);
  const Reach* find(Key key) const;

  Tree root_;
};

// The knowledge that strong writes have published, by word.
using SyncWords = std::unordered_map<std::uint64_t, Knowledge>;

}  // namespace krl::machine
