#include "plugins/backends/cpu/machine/decode/execution_order.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

namespace krl::machine {
namespace {

using Successors = std::vector<std::vector<std::uint32_t>>;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Loops within loops beyond this many stay in the order in which they were found: a bound for
// hostile code.
constexpr int kDeepestLoop = 64;

// The strongly connected components of a part of the graph, in topological order, each with the
// block by which it is entered at its front: Tarjan's algorithm without recursion.
class Components {
 public:
  explicit Components(const Successors& successors)
      : successors_(successors),
        number_(successors.size(), kNone),
        lowest_(successors.size()),
        on_stack_(successors.size()),
        part_(successors.size(), kNone) {}

  // Finds the strongly connected parts among the blocks of part `id`, beginning at each of `roots`
  // in turn.
  std::vector<std::vector<std::uint32_t>> find(const std::vector<std::uint32_t>& roots,
                                               std::uint32_t id) {
    found_.clear();
    for (const std::uint32_t root : roots) {
      if (part_[root] == id && number_[root] == kNone) visit(root, id);
    }
    std::reverse(found_.begin(), found_.end());
    return std::move(found_);
  }

  void assign(std::uint32_t block, std::uint32_t part) {
    part_[block] = part;
    number_[block] = kNone;
  }

 private:
  struct Visit {
    std::uint32_t block;
    std::size_t next;  // successor to look at
  };

  void visit(std::uint32_t root, std::uint32_t id) {
    std::vector<Visit> path;
    const auto enter = [&](std::uint32_t block) {
      number_[block] = lowest_[block] = next_number_++;
      stack_.push_back(block);
      on_stack_[block] = true;
      path.push_back({block, 0});
    };
    enter(root);
    while (!path.empty()) {
      const std::uint32_t block = path.back().block;
      if (path.back().next < successors_[block].size()) {
        const std::uint32_t to = successors_[block][path.back().next++];
        if (part_[to] != id) continue;
        if (number_[to] == kNone) {
          enter(to);
        } else if (on_stack_[to]) {
          lowest_[block] = std::min(lowest_[block], number_[to]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty())
        lowest_[path.back().block] = std::min(lowest_[path.back().block], lowest_[block]);
      if (lowest_[block] == number_[block]) leave(block);
    }
  }

  void leave(std::uint32_t head) {
    const auto begin = std::find(stack_.rbegin(), stack_.rend(), head).base() - 1;
    found_.emplace_back(begin, stack_.end());
    for (const std::uint32_t block : found_.back()) on_stack_[block] = false;
    stack_.erase(begin, stack_.end());
  }

  const Successors& successors_;
  std::vector<std::uint32_t> number_, lowest_;
  std::vector<bool> on_stack_;
  std::vector<std::uint32_t> part_, stack_;
  std::uint32_t next_number_ = 0;
  std::vector<std::vector<std::uint32_t>> found_;
};

}  // namespace

std::vector<std::uint32_t> execution_order(const Successors& successors) {
  struct Task {
    std::vector<std::uint32_t> blocks;  // the first is where they are entered
    int depth;
    bool whole;  // ordered as it is
  };
  const auto n = static_cast<std::uint32_t>(successors.size());
  std::vector<std::uint32_t> ranks(n, kNone);
  std::uint32_t rank = 0, part = 0;
  Components components(successors);
  std::vector<Task> tasks = {{std::vector<std::uint32_t>(n), 0, false}};
  std::iota(tasks[0].blocks.begin(), tasks[0].blocks.end(), 0);
  while (!tasks.empty()) {
    const Task task = std::move(tasks.back());
    tasks.pop_back();
    if (task.whole || task.depth > kDeepestLoop) {
      for (const std::uint32_t block : task.blocks) ranks[block] = rank++;
      continue;
    }
    // A loop's head goes first; without it the rest falls into smaller components. The head itself
    // is a task so that ranks are given in order.
    std::vector<std::uint32_t> rest = task.blocks;
    std::vector<Task> next;
    if (task.depth > 0) {
      next.push_back({{rest.front()}, task.depth, true});
      rest.erase(rest.begin());
    }
    const std::uint32_t id = ++part;
    for (const std::uint32_t block : rest) components.assign(block, id);
    for (auto& component : components.find(rest, id)) {
      const bool whole = component.size() == 1;
      next.push_back({std::move(component), task.depth + 1, whole});
    }
    tasks.insert(tasks.end(), std::make_move_iterator(next.rbegin()),
                 std::make_move_iterator(next.rend()));
  }
  return ranks;
}

}  // namespace krl::machine
