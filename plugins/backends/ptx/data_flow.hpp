// Lists the registers that an instruction writes and reads, as far as its operands show them.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "plugins/backends/ptx/module.hpp"
#include "plugins/backends/ptx/reached.hpp"

namespace krl::ptx {

// True if the first operand is no result: an address, a label, a barrier.
inline bool has_no_result(const Instruction& instruction) {
  static constexpr std::string_view kOpcodes[] = {
      "st", "red", "bra", "bar", "barrier", "cp", "prefetch", "prefetchu", "nanosleep", "brx"};
  return std::find(std::begin(kOpcodes), std::end(kOpcodes), instruction.opcode) !=
         std::end(kOpcodes);
}

// Calls `visit` with the index of each register that is written.
template <class Visit>
void for_each_result(const Instruction& instruction, const Visit& visit) {
  if (instruction.operands.empty() || has_no_result(instruction)) return;
  if (instruction.operands[0].kind == Operand::kAddress) return;
  for_each_operand(instruction.operands[0], [&](const Operand& part) {
    if (part.kind == Operand::kRegister) visit(part.index);
  });
}

// Calls `visit` with each operand that is read, the guard included.
template <class Visit>
void for_each_source(const Instruction& instruction, const Visit& visit) {
  if (instruction.guarded) visit(instruction.guard);
  for (std::size_t i = has_no_result(instruction) ? 0 : 1; i < instruction.operands.size(); ++i) {
    for_each_operand(instruction.operands[i], visit);
  }
}

}  // namespace krl::ptx
