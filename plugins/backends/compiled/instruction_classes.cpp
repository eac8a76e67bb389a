#include "plugins/backends/compiled/instruction_classes.hpp"

#include <utility>

#include "plugins/backends/ptx/reached.hpp"

namespace krl::compiled {
namespace {

using Count = std::int64_t InstructionCounts::*;

constexpr std::pair<const char*, Count> kValueNames[] = {
    {"shuffles", &InstructionCounts::shuffles},
    {"votes", &InstructionCounts::votes},
    {"barriers", &InstructionCounts::barriers},
    {"vector_accesses", &InstructionCounts::vector_accesses},
    {"tensor_instructions", &InstructionCounts::tensor_instructions},
    {"atomics", &InstructionCounts::atomics},
    {"local_accesses", &InstructionCounts::local_accesses},
    {"asynchronous_copies", &InstructionCounts::asynchronous_copies},
};

template <class... Names>
bool is(const ptx::Instruction& instruction, Names... names) {
  return ((instruction.opcode == names) || ...);
}

template <class... Names>
bool has(const ptx::Instruction& instruction, Names... modifiers) {
  return (instruction.has(modifiers) || ...);
}

void add(const ptx::Instruction& it, InstructionCounts& counts) {
  const bool access = is(it, "ld", "st");
  const bool elsewhere = has(it, "shared", "shared::cta", "shared::cluster", "local", "param",
                             "param::entry", "param::func", "const");
  if (is(it, "shfl")) ++counts.shuffles;
  if (is(it, "vote", "match", "redux", "activemask")) ++counts.votes;
  if (is(it, "bar", "barrier") && !has(it, "warp")) ++counts.barriers;
  if (access && !elsewhere && has(it, "v2", "v4", "v8")) ++counts.vector_accesses;
  const bool matrix = is(it, "mma") || has(it, "mma", "mma_async");
  if (is(it, "mma", "wmma", "wgmma", "tcgen05") && matrix) ++counts.tensor_instructions;
  if (is(it, "atom", "red")) ++counts.atomics;
  if (access && has(it, "local")) ++counts.local_accesses;
  const bool waits = has(it, "commit_group", "wait_group", "wait_all", "mbarrier");
  if (is(it, "cp") && has(it, "async") && !waits) ++counts.asynchronous_copies;
}

}  // namespace

InstructionCounts count_instructions(const ptx::Module& module,
                                     const std::vector<std::string>& names) {
  InstructionCounts counts;
  for (const ptx::Function* function : ptx::reached_functions(module, names)) {
    for (const ptx::Instruction& instruction : function->body) add(instruction, counts);
  }
  return counts;
}

void add_instruction_values(const InstructionCounts& counts, std::vector<Value>* values) {
  for (const auto& [name, count] : kValueNames) {
    values->push_back({-1, name, "", static_cast<double>(counts.*count)});
  }
}

}  // namespace krl::compiled
