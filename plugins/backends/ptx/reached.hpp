// The functions that kernels can execute: themselves and every function that they name, directly or
// indirectly.
#pragma once

#include <string>
#include <vector>

#include "plugins/backends/ptx/module.hpp"

namespace krl::ptx {

// Returns the reachable functions that have a body, each once, in the order of the module. Unknown
// names are ignored. Initial values are not examined: code that takes the address of a function
// names it.
std::vector<const Function*> reached_functions(const Module& module,
                                               const std::vector<std::string>& names);

// Calls `visit` with the operand and everything inside of it.
template <class Visit>
void for_each_operand(const Operand& operand, const Visit& visit) {
  visit(operand);
  for (const Operand& element : operand.elements) for_each_operand(element, visit);
}

}  // namespace krl::ptx
