// The functions that kernels can execute: themselves and every function that they name, directly or
// indirectly.
#pragma once

#include <string>
#include <vector>

#include "plugins/backends/ptx/module.hpp"

namespace krl::ptx {

// With a body, each once, in the order of the module. Names that it does not have count for
// nothing. Initial values are not looked at: code that takes the address of a function names it.
std::vector<const Function*> reached_functions(const Module& module,
                                               const std::vector<std::string>& names);

// Calls `visit` with the operand and everything inside of it.
template <class Visit>
void for_each_operand(const Operand& operand, const Visit& visit) {
  visit(operand);
  for (const Operand& element : operand.elements) for_each_operand(element, visit);
}

}  // namespace krl::ptx
