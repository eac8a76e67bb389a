#include "plugins/backends/ptx/control_regions.hpp"

#include <utility>

namespace krl::ptx {

ControlRegions::ControlRegions(const Function& function)
    : function_(function), exit_(static_cast<std::uint32_t>(function.body.size())) {
  find_meeting_points();
}

std::vector<std::uint32_t> ControlRegions::successors(std::uint32_t index) const {
  const Instruction& instruction = function_.body[index];
  const bool branches = instruction.opcode == "bra" || instruction.opcode == "brx";
  const bool ends = instruction.opcode == "ret" || instruction.opcode == "exit";
  std::vector<std::uint32_t> next;
  const bool goes_on = !branches && !ends && instruction.opcode != "trap";
  if (goes_on || instruction.guarded) next.push_back(index + 1);
  if (ends) next.push_back(exit_);
  if (!branches) return next;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind != Operand::kLabel) continue;
    if (operand.name.empty()) {
      next.push_back(operand.index);
    } else {
      const auto& labels = function_.targets[operand.index].labels;
      next.insert(next.end(), labels.begin(), labels.end());
    }
  }
  return next;
}

// Numbers the nodes in the order in which a depth-first search from the end leaves them, and returns
// them in that order; [0] is unused.
std::vector<std::uint32_t> ControlRegions::number_from_the_end() {
  std::vector<std::vector<std::uint32_t>> before(exit_ + 1);
  for (std::uint32_t i = 0; i < exit_; ++i) {
    for (const std::uint32_t next : successors(i)) before[next].push_back(i);
  }
  order_.assign(exit_ + 1, 0);
  std::vector<bool> seen(exit_ + 1);
  std::vector<std::uint32_t> by_order{exit_};
  std::vector<std::pair<std::uint32_t, std::size_t>> path{{exit_, 0}};
  seen[exit_] = true;
  while (!path.empty()) {
    auto& [node, edge] = path.back();
    if (edge < before[node].size()) {
      const std::uint32_t next = before[node][edge++];
      if (!seen[next]) path.emplace_back(next, 0);
      seen[next] = true;
    } else {
      order_[node] = static_cast<std::uint32_t>(by_order.size());
      by_order.push_back(node);
      path.pop_back();
    }
  }
  return by_order;
}

// Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm", on the reversed graph.
void ControlRegions::find_meeting_points() {
  const std::vector<std::uint32_t> by_order = number_from_the_end();
  meets_at_.assign(exit_ + 1, exit_);
  std::vector<bool> known(exit_ + 1);
  known[exit_] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t number = by_order.size() - 2; number > 0; --number) {
      const std::uint32_t node = by_order[number];
      std::uint32_t meeting = exit_;
      bool first = true;
      for (const std::uint32_t next : successors(node)) {
        if (!known[next]) continue;
        meeting = first ? next : meeting_point(meeting, next);
        first = false;
      }
      changed = changed || !known[node] || meets_at_[node] != meeting;
      known[node] = true;
      meets_at_[node] = meeting;
    }
  }
}

std::uint32_t ControlRegions::meeting_point(std::uint32_t a, std::uint32_t b) const {
  while (a != b) {
    while (order_[a] < order_[b]) a = meets_at_[a];
    while (order_[b] < order_[a]) b = meets_at_[b];
  }
  return a;
}

std::vector<std::uint32_t> ControlRegions::decided_by(std::uint32_t index) const {
  const std::uint32_t end = order_[index] == 0 ? exit_ : meets_at_[index];
  std::vector<bool> seen(exit_ + 1);
  std::vector<std::uint32_t> found, waiting = successors(index);
  while (!waiting.empty()) {
    const std::uint32_t next = waiting.back();
    waiting.pop_back();
    if (next == end || next == exit_ || seen[next]) continue;
    seen[next] = true;
    found.push_back(next);
    for (const std::uint32_t after : successors(next)) waiting.push_back(after);
  }
  return found;
}

}  // namespace krl::ptx
