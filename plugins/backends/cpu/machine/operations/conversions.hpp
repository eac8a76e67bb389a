// Tables of the conversions that are one operation.
#pragma once

#include "plugins/backends/cpu/machine/operations/forms.hpp"

namespace krl::machine {

void add_common_conversions(Forms& forms);   // common_conversions.cpp
void add_packing_conversions(Forms& forms);  // packing_conversions.cpp: two values in a register

}  // namespace krl::machine
