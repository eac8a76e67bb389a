#include "plugins/backends/cpu/machine/decode/product_registers.hpp"

#include "plugins/backends/cpu/machine/operations/warpgroup.hpp"

namespace krl::machine {
namespace {

using ptx::Operand;

bool is_product(const ptx::Instruction& instruction) {
  return instruction.opcode == "wgmma" && instruction.has("mma_async");
}

// A register is copied, or set to a constant.
bool copies_register(const ptx::Instruction& instruction) {
  return instruction.opcode == "mov" && instruction.operands.size() == 2 &&
         instruction.operands[0].kind == Operand::kRegister &&
         instruction.operands[1].kind != Operand::kVector;
}

}  // namespace

ProductRegisters::ProductRegisters(const ptx::Function& source) {
  std::vector<std::uint32_t> found;
  const auto add = [&](const Operand& reg) {
    if (reg.kind != Operand::kRegister) return;
    registers_.resize(source.registers.size());
    if (registers_[reg.index]) return;
    registers_[reg.index] = true;
    found.push_back(reg.index);
  };
  for (const ptx::Instruction& instruction : source.body) {
    if (!is_product(instruction)) continue;
    for (std::size_t i = 0; i < instruction.operands.size() && i < 2; ++i) {
      for (const Operand& reg : instruction.operands[i].elements) add(reg);
    }
  }
  if (found.empty()) return;
  std::vector<std::vector<const Operand*>> copies(source.registers.size());
  for (const ptx::Instruction& instruction : source.body) {
    if (copies_register(instruction) && instruction.operands[1].kind == Operand::kRegister) {
      copies[instruction.operands[1].index].push_back(&instruction.operands[0]);
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const Operand* copy : copies[found[i]]) add(*copy);
  }
}

void ProductRegisters::watch(const ptx::Instruction& instruction, const Instruction& decoded,
                             FrameLayout* layout) {
  if (registers_.empty() || is_product(instruction)) return;
  const auto add = [&](RegisterAccess access, std::uint32_t reg, std::uint32_t copied) {
    Instruction check = machine::watch(access, layout->use_of(reg), copied);
    check.guard = decoded.guard;
    check.guard_negated = decoded.guard_negated;
    layout->before(check);
  };
  if (copies_register(instruction)) {
    const Operand &to = instruction.operands[0], &from = instruction.operands[1];
    if (has(to)) add(RegisterAccess::kCopy, to.index, has(from) ? layout->use_of(from.index) : 0);
    return;
  }
  for (const std::uint32_t reg : layout->reads()) {
    if (has(reg)) add(RegisterAccess::kRead, reg, 0);
  }
  for (const std::uint32_t reg : layout->writes()) {
    if (has(reg)) add(RegisterAccess::kWrite, reg, 0);
  }
}

}  // namespace krl::machine
