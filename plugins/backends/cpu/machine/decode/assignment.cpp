#include "plugins/backends/cpu/machine/decode/assignment.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace krl::machine {
namespace {

constexpr std::size_t kMostWords = std::size_t{4} << 20;  // total of all sets: 32 MiB

std::vector<std::uint32_t> every_first_read(const std::vector<BlockRegisters>& blocks) {
  std::vector<std::uint32_t> all;
  for (const BlockRegisters& block : blocks) {
    all.insert(all.end(), block.read_first.begin(), block.read_first.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Sets of registers, one for each block.
class Sets {
 public:
  Sets(std::size_t blocks, std::size_t registers)
      : words_((registers + 63) / 64),
        bits_(blocks * words_, std::numeric_limits<std::uint64_t>::max()) {}

  std::uint64_t* of(std::size_t block) { return bits_.data() + block * words_; }
  std::size_t words() const { return words_; }
  bool has(std::size_t block, std::uint32_t reg) const {
    return (bits_[block * words_ + reg / 64] >> (reg % 64) & 1) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

// The registers certainly written at the start of each block: none in the first one, elsewhere those
// written on all ways to it.
Sets written_at_start(const std::vector<BlockRegisters>& blocks, std::uint32_t count) {
  Sets written(blocks.size(), count);
  std::fill(written.of(0), written.of(0) + written.words(), 0);
  std::vector<std::uint32_t> work = {0};
  std::vector<bool> waiting(blocks.size());
  std::vector<std::uint64_t> after(written.words());
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    waiting[b] = false;
    std::copy(written.of(b), written.of(b) + written.words(), after.begin());
    for (const std::uint32_t reg : blocks[b].written)
      after[reg / 64] |= std::uint64_t{1} << (reg % 64);
    for (const std::uint32_t to : blocks[b].successors) {
      bool changed = false;
      for (std::size_t w = 0; w < after.size(); ++w) {
        const std::uint64_t both = written.of(to)[w] & after[w];
        changed |= both != written.of(to)[w];
        written.of(to)[w] = both;
      }
      if (changed && !waiting[to]) {
        waiting[to] = true;
        work.push_back(to);
      }
    }
  }
  return written;
}

}  // namespace

std::vector<std::uint32_t> registers_read_unwritten(const std::vector<BlockRegisters>& blocks,
                                                    std::uint32_t count) {
  if (blocks.empty()) return {};
  if (blocks.size() * ((count + 63) / 64) > kMostWords) return every_first_read(blocks);
  const Sets written = written_at_start(blocks, count);
  std::vector<std::uint32_t> found;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (const std::uint32_t reg : blocks[b].read_first) {
      if (!written.has(b, reg)) found.push_back(reg);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace krl::machine
