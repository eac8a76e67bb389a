// Integer types as PTX names them.
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

// Calls `visit` with a 0 of each type.
template <class Visit>
void for_each_integer_type(const Visit& visit) {
  visit(std::uint16_t{0});
  visit(std::uint32_t{0});
  visit(std::uint64_t{0});
  visit(std::int16_t{0});
  visit(std::int32_t{0});
  visit(std::int64_t{0});
}

bool decode_carry(const ptx::Instruction& instruction, Operands& operands,
                  Instruction* out);  // carry.cpp: add.cc, addc, …

}  // namespace krl::machine
