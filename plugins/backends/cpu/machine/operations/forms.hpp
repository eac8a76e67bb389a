// The forms of instructions that are one operation on rows, by their full names: "add.sat.s32". A
// form that is not in a table is not supported, so that no modifier can be overlooked. Built once,
// before the first instruction is decoded; read by any thread.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "plugins/backends/cpu/machine/operands.hpp"
#include "plugins/backends/cpu/machine/operations/lanewise.hpp"
#include "plugins/backends/cpu/machine/operations/values.hpp"

namespace krl::machine {

// Operands as a PTX instruction lists them: d, a, b, c, e.
struct Form {
  Operation run = nullptr;
  InstructionClass kind = InstructionClass::kInteger;
  std::uint8_t count = 0;  // number of sources
  ptx::Type destination = ptx::Type::kNone;
  std::array<ptx::Type, 4> sources{};
  std::uint8_t setting = 0;  // becomes Instruction::extra[0]
};

// Returns the PTX type that declares the operands of a lane's function.
template <class T>
constexpr ptx::Type type_of() {
  if constexpr (std::is_same_v<T, bool>) return ptx::Type::kPredicate;
  if constexpr (std::is_same_v<T, float>) return ptx::Type::kF32;
  if constexpr (std::is_same_v<T, double>) return ptx::Type::kF64;
  if constexpr (std::is_same_v<T, Half>) return ptx::Type::kF16;
  if constexpr (std::is_same_v<T, BFloat>) return ptx::Type::kBF16;
  if constexpr (sizeof(T) == 2) return ptx::Type::kB16;
  if constexpr (sizeof(T) == 4) return ptx::Type::kB32;
  return ptx::Type::kB64;
}

// d = function(a, b, …), lane by lane.
template <class Function>
struct FormOf;
template <class D, class... S>
struct FormOf<D (*)(S...)> {
  template <D (*function)(S...)>
  static constexpr Form make(InstructionClass kind) {
    Form form{nullptr, kind, sizeof...(S), type_of<D>(), {type_of<S>()...}};
    if constexpr (std::is_same_v<D, bool>) {
      form.run = test_lanes<function>;
    } else {
      form.run = lanewise<function>;
    }
    return form;
  }
};
template <auto function>
constexpr Form form_of(InstructionClass kind) {
  return FormOf<decltype(function)>::template make<function>(kind);
}

class Forms {
 public:
  template <auto function>
  void add(InstructionClass kind, std::initializer_list<std::string> names) {
    for (const std::string& name : names) add(name, form_of<function>(kind));
  }
  void add(std::string name, const Form& form) { forms_.emplace(std::move(name), form); }
  const Form* find(const std::string& name) const {
    const auto found = forms_.find(name);
    return found == forms_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<std::string, Form> forms_;
};

// Fills in `*out` if the instruction's full name is that of a form; returns false otherwise. Throws
// Unsupported for operands that do not fit the form.
bool decode_form(const Forms& forms, const ptx::Instruction& instruction, Operands& operands,
                 Instruction* out);
// The same of a form that was found elsewhere.
void bind_form(const Form& form, const ptx::Instruction& instruction, Operands& operands,
               Instruction* out);

// A destination that must not be "_".
std::uint32_t written_row(const ptx::Instruction& instruction, const ptx::Operand& operand,
                          ptx::Type type, Operands& operands);

}  // namespace krl::machine
