#include "plugins/backends/cpu/machine/decode/idle_loads.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "plugins/backends/cpu/machine/memory/access.hpp"

namespace krl::machine {
namespace {

using ptx::Operand;

bool has(const std::vector<bool>& set, std::uint32_t reg) { return reg < set.size() && set[reg]; }

void insert(std::vector<bool>* set, std::uint32_t reg) {
  if (reg >= set->size()) set->resize(reg + 1);
  (*set)[reg] = true;
}

void add_registers(const Operand& operand, std::vector<std::uint32_t>* registers) {
  if (operand.kind == Operand::kRegister) registers->push_back(operand.index);
  for (const Operand& element : operand.elements) add_registers(element, registers);
}

// True if the first operand is written.
bool has_result(const ptx::Instruction& instruction) {
  static constexpr std::string_view kOthers[] = {"brx",  "bar",       "barrier",
                                                 "call", "nanosleep", "wgmma"};
  return !instruction.operands.empty() && instruction.operands[0].kind != Operand::kAddress &&
         std::find(std::begin(kOthers), std::end(kOthers), instruction.opcode) == std::end(kOthers);
}

}  // namespace

void IdleLoads::use(const Operand& operand) {
  std::vector<std::uint32_t> registers;
  add_registers(operand, &registers);
  for (const std::uint32_t reg : registers) insert(&used_, reg);
}

bool IdleLoads::is_constant(const Operand& operand) const {
  if (operand.kind == Operand::kRegister) return has(addresses_, operand.index);
  return operand.kind == Operand::kVariable || operand.kind == Operand::kInteger;
}

void IdleLoads::note_address(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (operands.size() < 2 || operands[0].kind != Operand::kRegister) return;
  const bool begins = instruction.opcode == "mov" && (operands[1].kind == Operand::kVariable ||
                                                      operands[1].kind == Operand::kAddress);
  const bool goes_on = (instruction.opcode == "add" || instruction.opcode == "cvta") &&
                       std::all_of(operands.begin() + 1, operands.end(),
                                   [this](const Operand& operand) { return is_constant(operand); });
  if (begins || goes_on) insert(&addresses_, operands[0].index);
}

void IdleLoads::note(const ptx::Instruction& instruction, MemoryAccess* access) {
  const auto& operands = instruction.operands;
  note_address(instruction);
  if (instruction.guarded) use(instruction.guard);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_value = instruction.opcode == "st" && i == 1;
    const bool is_result = i == 0 && has_result(instruction);
    if (!is_value && !is_result) use(operands[i]);
  }
  if (instruction.opcode != "ld" || access == nullptr || operands.size() < 2) return;
  access->movable =
      operands[1].kind == Operand::kAddress && is_constant(operands[1].elements.front());
  access->idle = access->movable;
  loads_.push_back({access, {}});
  add_registers(operands[0], &loads_.back().registers);
}

void IdleLoads::mark() const {
  for (const Load& load : loads_) {
    load.access->idle |= std::none_of(load.registers.begin(), load.registers.end(),
                                      [this](std::uint32_t reg) { return has(used_, reg); });
  }
}

}  // namespace krl::machine
