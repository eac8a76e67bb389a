#include "plugins/backends/cpu/machine/one_barrier.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace krl::machine {
namespace {

// Calls visit(block) for each that may come next.
template <class Visit>
void each_successor(const Function& function, std::uint32_t at, const Visit& visit) {
  const BasicBlock& block = function.blocks[at];
  const Ending ending = block.ending;
  for (const std::uint32_t target : block.targets) visit(target);
  if (ending == Ending::kBranch || ending == Ending::kIf) visit(block.target);
  const bool goes_on = ending != Ending::kBranch && ending != Ending::kSwitch &&
                       ending != Ending::kReturn && ending != Ending::kExit;
  if (goes_on && at + 1 < function.blocks.size()) visit(at + 1);
}

// True if every path from the function's entry to `block` goes through `other`.
bool dominates(const Function& function, const BasicBlock& other, const BasicBlock& block) {
  std::vector<bool> seen(function.blocks.size());
  std::vector<std::uint32_t> open;
  const auto visit = [&](std::uint32_t at) {
    if (seen[at] || &function.blocks[at] == &other) return;
    seen[at] = true;
    open.push_back(at);
  };
  visit(0);
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    each_successor(function, at, visit);
  }
  return !seen[static_cast<std::size_t>(&block - function.blocks.data())];
}

}  // namespace

bool is_one_barrier(const Function& function, const BasicBlock& first, const BasicBlock& second) {
  if (&first == &second) return true;
  if (first.last.line != second.last.line) return false;
  const BasicBlock* const blocks = function.blocks.data();
  const bool of_one_function =
      std::less_equal<>()(blocks, &first) && std::less<>()(&first, blocks + function.blocks.size());
  return !of_one_function || dominates(function, first, second) ||
         dominates(function, second, first);
}

}  // namespace krl::machine
