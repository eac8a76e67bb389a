// The operands of instructions, inside a function.
#pragma once

#include <string>

#include "plugins/backends/ptx/reading.hpp"

namespace krl::ptx {

class OperandReader {
 public:
  OperandReader(Reading& reading, const Function& function)
      : reading_(reading), tokens_(reading.tokens), function_(function) {}

  // Reads an operand. A name that has not been declared is a kLabel with that name, for the caller
  // to find. An address with coordinates, of a texture or a tensor, has them as its second element.
  Operand read();
  // "(a, b)" of a call.
  Operand read_list();
  // Behind "@".
  Operand read_guard();

 private:
  Operand named();
  Operand element();
  Operand constant();
  Operand negated();
  Operand vector();
  Operand address();
  std::uint64_t offset();
  Operand pair(Operand first);
  bool is_predicate(const Operand& operand) const;
  Operand counted(Operand operand);

  Reading& reading_;
  Tokens& tokens_;
  const Function& function_;
};

}  // namespace krl::ptx
