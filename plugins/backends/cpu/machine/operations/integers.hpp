// Integer types as PTX names them, and tables of the integer forms.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "plugins/backends/cpu/machine/operations/forms.hpp"

namespace krl::machine {

// "u16" … "s64"
template <class T>
std::string integer_name() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(sizeof(T) * 8);
}

template <class T>
inline constexpr InstructionClass kIntegerKind = sizeof(T) == 8 ? InstructionClass::kInteger64
                                                                : InstructionClass::kInteger;

void add_integer_forms(Forms& forms);    // arithmetic.cpp
void add_product_forms(Forms& forms);    // products.cpp: mul, mad, dp4a, …
void add_division_forms(Forms& forms);   // division.cpp
void add_bit_forms(Forms& forms);        // bits.cpp: logic, shifts, fields
void add_bit_count_forms(Forms& forms);  // bit_counts.cpp: popc, clz, …
bool decode_carry(const ptx::Instruction& instruction, Operands& operands,
                  Instruction* out);  // carry.cpp: add.cc, addc, …

}  // namespace krl::machine
