// Tables of the floating-point forms.
#pragma once

#include "plugins/backends/cpu/machine/operations/forms.hpp"

namespace krl::machine {

void add_float_forms(Forms& forms);        // floating.cpp: f32 and f64, rounded exactly
void add_float_sign_forms(Forms& forms);   // float_signs.cpp: neg, abs, min, max, testp, …
void add_half_forms(Forms& forms);         // halves.cpp: f16 and bf16, and pairs of them
void add_approximate_forms(Forms& forms);  // approximate.cpp: .approx and .full

}  // namespace krl::machine
