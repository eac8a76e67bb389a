#include "plugins/backends/ptx/clock_data.hpp"

#include <algorithm>
#include <optional>

#include "plugins/backends/ptx/control_regions.hpp"
#include "plugins/backends/ptx/data_flow.hpp"

namespace krl::ptx {
namespace {

template <class List>
bool is_one_of(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// True for opcodes whose first operand is a result that is computed from the others.
bool is_arithmetic(std::string_view opcode) {
  static constexpr std::string_view kOpcodes[] = {
      "abs", "add",  "addc", "and",  "bfe", "bfi", "clz", "cnot", "cvt",  "div",  "lop3",
      "mad", "max",  "min",  "mov",  "mul", "neg", "not", "or",   "popc", "prmt", "rem",
      "sad", "selp", "set",  "setp", "shf", "shl", "shr", "sub",  "subc", "xor"};
  return is_one_of(kOpcodes, opcode);
}

bool waits_or_branches(std::string_view opcode) {
  static constexpr std::string_view kOpcodes[] = {"bra", "nanosleep", "ret", "exit"};
  return is_one_of(kOpcodes, opcode);
}

// Has no effect but its result, or none at all, so that a clock may decide about it.
bool may_be_decided(const Instruction& instruction) {
  static constexpr std::string_view kOpcodes[] = {"ld",   "cvta",  "fma",    "rcp",
                                                  "trap", "fence", "membar", "ex2"};
  const bool polls = instruction.has("test_wait") || instruction.has("try_wait");
  return is_arithmetic(instruction.opcode) || waits_or_branches(instruction.opcode) ||
         is_one_of(kOpcodes, instruction.opcode) || (instruction.opcode == "mbarrier" && polls);
}

// Predicates that are known although they are made of clocks: a reading of a clock is never less
// than an earlier one of the same thread.
class SettledPredicates {
 public:
  explicit SettledPredicates(const Function& function)
      : function_(function),
        definition_(function.registers.size(), kNone),
        value_(function.registers.size()) {
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      for_each_result(function.body[i], [&](std::uint32_t reg) {
        definition_[reg] = definition_[reg] == kNone ? i : kMany;
      });
    }
    for (const Instruction& instruction : function.body) settle(instruction);
  }

  bool settles(const Instruction& instruction) const {
    return instruction.operands.size() == 3 && value_of(instruction.operands[0]).has_value();
  }

 private:
  static constexpr std::uint32_t kNone = ~0u, kMany = ~0u - 1;

  std::optional<bool> value_of(const Operand& operand) const {
    if (operand.kind != Operand::kRegister || operand.negated) return std::nullopt;
    return value_[operand.index];
  }

  void settle(const Instruction& instruction) {
    const auto& operands = instruction.operands;
    if (instruction.guarded || operands.size() != 3) return;
    if (operands[0].kind != Operand::kRegister || definition_[operands[0].index] >= kMany) return;
    std::optional<bool>& value = value_[operands[0].index];
    const bool whole = instruction.has("s64") || instruction.has("u64");
    if (instruction.opcode == "setp" && whole && is_later(operands[1], operands[2])) {
      if (instruction.has("lt")) value = false;
      if (instruction.has("ge")) value = true;
    }
    const bool is_and = instruction.opcode == "and", is_or = instruction.opcode == "or";
    for (const Operand& operand : {operands[1], operands[2]}) {
      if ((is_and && value_of(operand) == false) || (is_or && value_of(operand) == true)) {
        value = is_or;
      }
    }
  }

  // True if both are readings of %clock64, and the second was made before anything else could
  // branch.
  bool is_later(const Operand& a, const Operand& b) const {
    const std::uint32_t later = reading(a), earlier = reading(b);
    return later != kNone && earlier < later && earlier < first_branch();
  }

  std::uint32_t reading(const Operand& operand) const {
    if (operand.kind != Operand::kRegister || definition_[operand.index] >= kMany) return kNone;
    const Instruction& by = function_.body[definition_[operand.index]];
    const bool reads = by.opcode == "mov" && !by.guarded && by.operands.size() == 2 &&
                       by.operands[1].kind == Operand::kSpecial &&
                       by.operands[1].name == "%clock64";
    return reads ? definition_[operand.index] : kNone;
  }

  // Nothing in front of it is in a loop, unless it is the target of a branch.
  std::uint32_t first_branch() const {
    std::uint32_t first = 0;
    while (first < function_.body.size() && !is_one_of(kLeaving, function_.body[first].opcode)) {
      ++first;
    }
    for (const Instruction& instruction : function_.body) {
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == Operand::kLabel) first = std::min(first, operand.index);
      }
    }
    return first;
  }

  static constexpr std::string_view kLeaving[] = {"bra", "brx", "ret", "exit", "call"};

  const Function& function_;
  std::vector<std::uint32_t> definition_;  // by register: the instruction that writes it
  std::vector<std::optional<bool>> value_;
};

// Finds the registers whose values depend on clocks, and the instructions that clocks decide about.
class ClockValues {
 public:
  explicit ClockValues(const Function& function)
      : function_(function),
        settled_(function),
        regions_(function),
        made_of_clocks_(function.registers.size()),
        readers_(function.registers.size()),
        decided_(function.body.size()),
        branched_(function.body.size()) {
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      for_each_source(function.body[i], [&](const Operand& operand) {
        if (operand.kind == Operand::kRegister) readers_[operand.index].push_back(i);
      });
    }
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      if (reads_clock(function.body[i])) follow(i);
    }
    while (!waiting_.empty()) {
      const std::uint32_t next = waiting_.back();
      waiting_.pop_back();
      for (const std::uint32_t reader : readers_[next]) follow(reader);
    }
  }

  bool reach(std::uint32_t index) const {
    const Instruction& instruction = function_.body[index];
    const bool harmless = may_be_decided(instruction);
    if (decided_[index] && !harmless) return true;
    if (is_arithmetic(instruction.opcode) || waits_or_branches(instruction.opcode)) return false;
    bool found = false;
    const auto look_at = [&](const Operand& part) {
      found = found || made_of_clocks(part) || is_clock(part);
    };
    for_each_source(instruction, look_at);
    if (!harmless && !instruction.operands.empty()) {
      for_each_operand(instruction.operands[0], look_at);  // perhaps an address
    }
    return found;
  }

 private:
  bool made_of_clocks(const Operand& operand) const {
    return operand.kind == Operand::kRegister && made_of_clocks_[operand.index];
  }

  static bool reads_clock(const Instruction& instruction) {
    bool found = false;
    for_each_source(instruction, [&](const Operand& part) { found = found || is_clock(part); });
    return found;
  }

  // A clock has gone into a source of this instruction.
  void follow(std::uint32_t index) {
    const Instruction& instruction = function_.body[index];
    if (settled_.settles(instruction)) return;
    if (is_arithmetic(instruction.opcode)) mark_results(instruction);
    const bool decides = instruction.opcode == "bra" || instruction.opcode == "ret" ||
                         instruction.opcode == "exit" || instruction.opcode == "brx";
    if (!decides || branched_[index]) return;
    branched_[index] = true;
    for (const std::uint32_t decided : regions_.decided_by(index)) {
      decided_[decided] = true;
      mark_results(function_.body[decided]);
    }
  }

  void mark_results(const Instruction& instruction) {
    for_each_result(instruction, [&](std::uint32_t reg) {
      if (made_of_clocks_[reg]) return;
      made_of_clocks_[reg] = true;
      waiting_.push_back(reg);
    });
  }

  const Function& function_;
  const SettledPredicates settled_;
  const ControlRegions regions_;
  std::vector<bool> made_of_clocks_;                 // by register
  std::vector<std::vector<std::uint32_t>> readers_;  // by register
  std::vector<bool> decided_;                        // by instruction
  std::vector<bool> branched_;                       // branches that have been followed
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
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    if (values.reach(i)) uses.push_back(&function.body[i]);
  }
  return uses;
}

}  // namespace krl::ptx
