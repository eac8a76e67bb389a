#include "plugins/backends/cpu/machine/decode/launch_invariants.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "plugins/backends/cpu/machine/memory/access.hpp"

namespace krl::machine {
namespace {

using ptx::Operand;

// They read nothing but their operands, write one register, and have no faults.
bool computes(const ptx::Instruction& instruction) {
  static constexpr std::string_view kOpcodes[] = {"mov", "cvta", "cvt", "add", "sub", "mul",
                                                  "mad", "shl",  "shr", "and", "or",  "xor"};
  const bool known =
      std::find(std::begin(kOpcodes), std::end(kOpcodes), instruction.opcode) != std::end(kOpcodes);
  return known && !instruction.has("cc");  // the carry of .cc is a second result
}

// True if the special register tells a thread's place in its block, or the shape of the launch.
bool is_place(std::string_view special) {
  static constexpr std::string_view kNames[] = {"%tid.", "%ntid.", "%nctaid.", "%laneid"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return special.starts_with(name); });
}

}  // namespace

void LaunchInvariants::note_writes(const Registers& writes) {
  for (const std::uint32_t reg : writes) {
    if (reg >= writers_.size()) writers_.resize(reg + 1);
    ++writers_[reg];
  }
}

void LaunchInvariants::note(const ptx::Instruction& instruction, std::uint32_t index) {
  const bool one_register =
      !instruction.operands.empty() && instruction.operands[0].kind == Operand::kRegister;
  if (source_.entry && !instruction.guarded && one_register &&
      (computes(instruction) || instruction.opcode == "ld")) {
    candidates_.push_back({&instruction, index});
  }
}

bool LaunchInvariants::is_known(const Operand& operand) const {
  switch (operand.kind) {
    case Operand::kInteger:
    case Operand::kFloat32:
    case Operand::kFloat64:
      return true;
    case Operand::kRegister:
      return known_[operand.index] && !operand.negated;
    case Operand::kSpecial:
      return is_place(operand.name);
    default:
      return false;
  }
}

// `bytes` of it, from its beginning.
bool LaunchInvariants::is_parameter(const Operand& address, std::uint32_t bytes) const {
  if (address.kind != Operand::kAddress || address.bits != 0) return false;
  const Operand& base = address.elements.front();
  return base.kind == Operand::kVariable && base.scope == Operand::kParameters &&
         bytes <= source_.parameters[base.index].bytes;
}

bool LaunchInvariants::is_invariant(const ptx::Instruction& instruction,
                                    const Instruction& decoded) const {
  const auto sources = instruction.operands.begin() + 1;
  if (instruction.opcode != "ld") {
    return std::all_of(sources, instruction.operands.end(),
                       [this](const Operand& operand) { return is_known(operand); });
  }
  return instruction.has("param") && instruction.operands.size() == 2 &&
         is_parameter(*sources, decoded.access->lane_bytes());
}

void LaunchInvariants::move(const Registers& unwritten, Function* function) {
  known_.assign(source_.registers.size(), false);
  std::vector<bool> moves(function->instructions.size());
  for (const auto& [instruction, index] : candidates_) {
    const std::uint32_t reg = instruction->operands[0].index;
    if (writers_[reg] != 1 || std::binary_search(unwritten.begin(), unwritten.end(), reg) ||
        !is_invariant(*instruction, function->instructions[index])) {
      continue;
    }
    known_[reg] = moves[index] = true;
    function->invariants.push_back(function->instructions[index]);
  }
  std::vector<std::uint32_t> place;  // place of each instruction, and of the end
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    place.push_back(kept);
    if (!moves[i]) function->instructions[kept++] = function->instructions[i];
  }
  place.push_back(kept);
  function->instructions.resize(kept);
  for (BasicBlock& block : function->blocks) {
    block.first = place[block.first];
    block.end = place[block.end];
  }
}

}  // namespace krl::machine
