// A Module written as PTX again: what the reader has kept of a text.
#pragma once

#include <string>

#include "plugins/backends/ptx/module.hpp"

namespace krl::ptx {

std::string operand_text(const Module& module, const Function& function, const Operand& operand);
std::string instruction_text(const Module& module, const Function& function,
                             const Instruction& instruction);
// Without blocks, directives for performance and places; registers and the variables of functions
// have other names.
std::string module_text(Module module);

}  // namespace krl::ptx
