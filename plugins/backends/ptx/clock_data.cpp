#include "plugins/backends/ptx/clock_data.hpp"

#include <algorithm>

#include "plugins/backends/ptx/reached.hpp"

namespace krl::ptx {
namespace {

// Their first operand is the result, the others are what it is made of.
bool is_arithmetic(std::string_view opcode) {
  static constexpr std::string_view kOpcodes[] = {
      "abs", "add",  "addc", "and",  "bfe", "bfi", "clz", "cnot", "cvt",  "div",  "lop3",
      "mad", "max",  "min",  "mov",  "mul", "neg", "not", "or",   "popc", "prmt", "rem",
      "sad", "selp", "set",  "setp", "shf", "shl", "shr", "sub",  "subc", "xor"};
  return std::find(std::begin(kOpcodes), std::end(kOpcodes), opcode) != std::end(kOpcodes);
}

bool waits_or_branches(std::string_view opcode) {
  return opcode == "bra" || opcode == "nanosleep" || opcode == "ret" || opcode == "exit";
}

// Which registers hold values that clocks have gone into.
class ClockValues {
 public:
  explicit ClockValues(const Function& function)
      : function_(function), made_of_clocks_(function.registers.size()) {
    std::vector<std::vector<const Instruction*>> readers(function.registers.size());
    for (const Instruction& instruction : function.body) {
      if (!is_arithmetic(instruction.opcode)) continue;
      if (reads_clock(instruction)) mark_results(instruction);
      for_each_source(instruction, [&](const Operand& operand) {
        if (operand.kind == Operand::kRegister) readers[operand.index].push_back(&instruction);
      });
    }
    while (!waiting_.empty()) {
      const std::uint32_t next = waiting_.back();
      waiting_.pop_back();
      for (const Instruction* reader : readers[next]) mark_results(*reader);
    }
  }

  // Of instructions that do not compute: in any operand.
  bool reach(const Instruction& instruction) const {
    bool found = made_of_clocks(instruction.guard) && instruction.guarded;
    for (const Operand& operand : instruction.operands) {
      for_each_operand(operand, [&](const Operand& part) {
        found = found || made_of_clocks(part) || is_clock(part);
      });
    }
    return found;
  }

 private:
  bool made_of_clocks(const Operand& operand) const {
    return operand.kind == Operand::kRegister && made_of_clocks_[operand.index];
  }

  template <class Visit>
  static void for_each_source(const Instruction& instruction, const Visit& visit) {
    if (instruction.guarded) visit(instruction.guard);
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
      for_each_operand(instruction.operands[i], visit);
    }
  }

  static bool reads_clock(const Instruction& instruction) {
    bool found = false;
    for_each_source(instruction, [&](const Operand& part) { found = found || is_clock(part); });
    return found;
  }

  void mark_results(const Instruction& instruction) {
    if (instruction.operands.empty()) return;
    for_each_operand(instruction.operands[0], [&](const Operand& part) {
      if (part.kind != Operand::kRegister || made_of_clocks_[part.index]) return;
      made_of_clocks_[part.index] = true;
      waiting_.push_back(part.index);
    });
  }

  const Function& function_;
  std::vector<bool> made_of_clocks_;    // by register
  std::vector<std::uint32_t> waiting_;  // registers whose readers are still to be marked
};

}  // namespace

bool is_clock(const Operand& operand) {
  return operand.kind == Operand::kSpecial &&
         (operand.name.starts_with("%clock") || operand.name.starts_with("%globaltimer"));
}

std::vector<const Instruction*> uses_of_clocks(const Function& function) {
  const auto names_clock = [](const Instruction& instruction) {
    return std::any_of(instruction.operands.begin(), instruction.operands.end(), is_clock);
  };
  if (std::none_of(function.body.begin(), function.body.end(), names_clock)) return {};
  const ClockValues values(function);
  std::vector<const Instruction*> uses;
  for (const Instruction& instruction : function.body) {
    const bool harmless =
        is_arithmetic(instruction.opcode) || waits_or_branches(instruction.opcode);
    if (!harmless && values.reach(instruction)) uses.push_back(&instruction);
  }
  return uses;
}

}  // namespace krl::ptx
