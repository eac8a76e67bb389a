#include "plugins/backends/cpu/machine/launch_counters.hpp"

#include <algorithm>

#include "plugins/backends/cpu/machine/operations/warp.hpp"

namespace krl::machine {
namespace {

std::uint64_t of_class(const BasicBlock& block, InstructionClass kind) {
  return block.runs * block.classes[static_cast<std::size_t>(kind)];
}

// Operations at which lanes wait for each other end their block; the others of their class are
// votes.
void count_warp_operations(const BasicBlock& block, cpu::Counters* counters) {
  counters->votes += of_class(block, InstructionClass::kWarp);
  if (block.ending != Ending::kMeeting || block.last.kind != InstructionClass::kWarp) return;
  const WarpOperation operation = operation_of(block.last);
  if (operation == WarpOperation::kVote) return;
  counters->votes -= block.runs;
  (operation == WarpOperation::kShuffle ? counters->shuffles : counters->warp_barriers) +=
      block.runs;
}

void count_products(const BasicBlock& block, cpu::Counters* counters) {
  if (block.ending != Ending::kMeeting || block.last.kind != InstructionClass::kTensor) return;
  const auto& [m, n, k, clamped, type, unused] = block.last.extra;
  counters->tensor_products[type] += block.runs * m * n * k;
}

}  // namespace

void clear_counters(Program& program) {
  for (const auto& function : program.functions) {
    for (BasicBlock& block : function->blocks) block.runs = block.lanes = 0;
  }
}

void add_counters(const Program& program, const cpu::Launch& launch, cpu::Counters* counters) {
  const std::uint64_t threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  counters->blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  counters->warps = counters->blocks * ((threads + kLanes - 1) / kLanes);
  counters->threads = counters->blocks * threads;
  double runs_of_executed = 0;
  for (const auto& function : program.functions) {
    for (const BasicBlock& block : function->blocks) {
      const auto runs = static_cast<double>(block.runs);
      runs_of_executed += runs * runs * block.instructions;
      for (std::size_t k = 0; k < kInstructionClasses; ++k)
        counters->classes[k] += block.runs * block.classes[k];
      if (block.runs > 0) counters->code_instructions += block.instructions;
      counters->instructions += block.runs * block.instructions;
      counters->thread_instructions += block.lanes * block.instructions;
      counters->barriers += of_class(block, InstructionClass::kBarrier);
      count_warp_operations(block, counters);
      count_products(block, counters);
    }
  }
  const double executed = std::max(1.0, static_cast<double>(counters->instructions));
  counters->typical_runs = static_cast<std::uint64_t>(runs_of_executed / executed + 0.5);
}

}  // namespace krl::machine
