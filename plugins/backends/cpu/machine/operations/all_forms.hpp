// The tables of forms, each filled in by the file that defines its operations.
#pragma once

#include "plugins/backends/cpu/machine/operations/forms.hpp"

namespace krl::machine {

void add_integer_forms(Forms& forms);    // arithmetic.cpp
void add_product_forms(Forms& forms);    // products.cpp: mul, mad, dp4a, …
void add_division_forms(Forms& forms);   // division.cpp
void add_bit_forms(Forms& forms);        // bits.cpp: logic, shifts, fields
void add_bit_count_forms(Forms& forms);  // bit_counts.cpp: popc, clz, …

void add_float_forms(Forms& forms);        // floating.cpp: f32 and f64, rounded exactly
void add_float_sign_forms(Forms& forms);   // float_signs.cpp: neg, abs, min, max, testp, …
void add_half_forms(Forms& forms);         // halves.cpp: f16 and bf16, and pairs of them
void add_approximate_forms(Forms& forms);  // approximate.cpp: .approx and .full

void add_common_conversions(Forms& forms);   // common_conversions.cpp
void add_packing_conversions(Forms& forms);  // packing_conversions.cpp: two values in a register

}  // namespace krl::machine
