#include "plugins/backends/ptx/cache_policies.hpp"

#include <algorithm>

#include "plugins/backends/ptx/data_flow.hpp"

namespace krl::ptx {
namespace {

constexpr std::string_view kHint = "L2::cache_hint";

// Finds the registers that hold policies only.
class Policies {
 public:
  explicit Policies(const Function& function)
      : other_(function.registers.size(), true) {  // at first nothing is written
    for (const Instruction& instruction : function.body) {
      for_each_result(instruction, [&](std::uint32_t reg) { other_[reg] = false; });
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction& instruction : function.body) {
        if (gives_policy(instruction)) continue;
        for_each_result(instruction, [&](std::uint32_t reg) {
          changed = changed || !other_[reg];
          other_[reg] = true;
        });
      }
    }
  }

  // Until the contrary turns out, while the constructor runs.
  bool holds(const Operand& operand) const {
    return operand.kind == Operand::kRegister && !other_[operand.index];
  }

 private:
  bool gives_policy(const Instruction& instruction) const {
    const auto& operands = instruction.operands;
    if (instruction.opcode == "createpolicy") return true;
    if (operands.empty() || operands[0].kind != Operand::kRegister) return false;
    if (instruction.opcode == "mov") {
      // Triton clears the register first. No policy is 0: it keeps no line.
      const bool clears = operands[1].kind == Operand::kInteger && operands[1].bits == 0;
      return operands.size() == 2 && (clears || holds(operands[1]));
    }
    if (instruction.opcode != "selp" || operands.size() != 4) return false;
    return holds(operands[1]) && holds(operands[2]);
  }

  std::vector<bool> other_;  // by register: may hold something else
};

}  // namespace

std::vector<const Instruction*> uses_of_unknown_policies(const Function& function) {
  const auto hints = [](const Instruction& instruction) { return instruction.has(kHint); };
  if (std::none_of(function.body.begin(), function.body.end(), hints)) return {};
  const Policies policies(function);
  std::vector<const Instruction*> uses;
  for (const Instruction& instruction : function.body) {
    if (!hints(instruction)) continue;
    if (instruction.operands.empty() || !policies.holds(instruction.operands.back())) {
      uses.push_back(&instruction);
    }
  }
  return uses;
}

}  // namespace krl::ptx
