#include "plugins/backends/cpu/machine/operations/forms.hpp"

namespace krl::machine {

std::uint32_t written_row(const ptx::Instruction& instruction, const ptx::Operand& operand,
                          ptx::Type type, Operands& operands) {
  const std::uint32_t destination = operands.destination(operand, type);
  if (destination == 0) operands.unsupported(instruction);
  return destination;
}

void bind_form(const Form& form, const ptx::Instruction& instruction, Operands& operands,
               Instruction* out) {
  if (instruction.operands.size() != form.count + std::size_t{1}) operands.unsupported(instruction);
  std::uint32_t* const rows[] = {&out->a, &out->b, &out->c, &out->e};
  for (std::size_t i = 0; i < form.count; ++i) {
    *rows[i] = operands.source(instruction.operands[i + 1], form.sources[i]);
  }
  out->d = written_row(instruction, instruction.operands[0], form.destination, operands);
  out->run = form.run;
  out->kind = form.kind;
  out->extra[0] = form.setting;
}

bool decode_form(const Forms& forms, const ptx::Instruction& instruction, Operands& operands,
                 Instruction* out) {
  const Form* form = forms.find(instruction.full_name());
  if (form == nullptr) return false;
  bind_form(*form, instruction, operands, out);
  return true;
}

}  // namespace krl::machine
