#include "plugins/backends/cpu/machine/memory/knowledge.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace krl::machine {
namespace {

constexpr Record kPattern = Record{15} << kPatternShift;

// If lanes have different stamps, the knowledge about the two sets of lanes is merged; this may
// miss races, but reports none falsely.
Reach joined_reach(const Reach& a, const Reach& b) {
  return {std::max(a.all, b.all), std::max(a.some, b.some), a.lanes | b.lanes};
}

}  // namespace

// A tree over the bits of keys, the highest first, without nodes that have one child ("Fast
// Mergeable Integer Maps", Okasaki and Gill 1998). `bit`: where the children differ; above it all
// keys are like `key`; 0: a leaf.
struct Knowledge::Node {
  Key key = 0, bit = 0;
  Tree child[2];
  Reach reach;

  bool has(Key other) const {
    return bit == 0 ? key == other : ((key ^ other) & ~(2 * bit - 1)) == 0;
  }
  const Tree& towards(Key other) const { return child[(other & bit) != 0]; }
};

Knowledge::Tree Knowledge::leaf(Key key, const Reach& reach) {
  return std::make_shared<const Node>(Node{key, 0, {}, reach});
}

Knowledge::Tree Knowledge::branch(Key key, Key bit, Tree zero, Tree one) {
  return std::make_shared<const Node>(Node{key, bit, {std::move(zero), std::move(one)}, {}});
}

// `other` is one of the keys of the tree's child.
Knowledge::Tree Knowledge::with_child(const Tree& tree, Key key, const Tree& other) {
  const bool one = (key & tree->bit) != 0;
  Tree child = joined(tree->child[one], other);
  if (child == tree->child[one]) return tree;
  return one ? branch(tree->key, tree->bit, tree->child[0], std::move(child))
             : branch(tree->key, tree->bit, std::move(child), tree->child[1]);
}

Knowledge::Tree Knowledge::joined(const Tree& a, const Tree& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  if (a->bit > b->bit && a->has(b->key)) return with_child(a, b->key, b);
  if (b->bit > a->bit && b->has(a->key)) return with_child(b, a->key, a);
  if (a->bit == b->bit && a->has(b->key)) {
    if (a->bit == 0) {
      const Reach reach = joined_reach(a->reach, b->reach);
      return reach == a->reach ? a : reach == b->reach ? b : leaf(a->key, reach);
    }
    Tree zero = joined(a->child[0], b->child[0]), one = joined(a->child[1], b->child[1]);
    if (zero == a->child[0] && one == a->child[1]) return a;
    if (zero == b->child[0] && one == b->child[1]) return b;
    return branch(a->key, a->bit, std::move(zero), std::move(one));
  }
  const Key bit = std::bit_floor(a->key ^ b->key);
  return (a->key & bit) == 0 ? branch(a->key, bit, a, b) : branch(a->key, bit, b, a);
}

void Knowledge::add(Key key, const Reach& reach) { root_ = joined(root_, leaf(key, reach)); }

const Reach* Knowledge::find(Key key) const {
  const Node* node = root_.get();
  while (node != nullptr && node->bit != 0)
    node = node->has(key) ? node->towards(key).get() : nullptr;
  return node != nullptr && node->key == key ? &node->reach : nullptr;
}

bool Knowledge::covers(std::uint32_t block, Record access) const {
  if (root_ == nullptr) return false;
  const Who who = who_of(access);
  const Record at = access & ~kPattern;
  const Reach* const of_block = find(key_of(block, 0));
  if (of_block != nullptr && at < of_block->all) return true;
  const Reach* const of_warp = find(key_of(block, warp_of(who) + 1));
  if (of_warp == nullptr) return false;
  return at < of_warp->all || (at < of_warp->some && (of_warp->lanes >> lane_of(who) & 1) != 0);
}

}  // namespace krl::machine
