// Declarations of variables, parameters and registers: types, sizes and initial values.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plugins/backends/ptx/module.hpp"
#include "plugins/backends/ptx/tokens.hpp"

namespace krl::ptx {

// ".u32"; none: not a type.
std::optional<Type> type_of(std::string_view directive);
// ".global"; none: not the space of a variable.
std::optional<Space> space_of(std::string_view directive);

// Takes a type, or fails.
Type read_type(Tokens& tokens);

// The part shared by all variables of one declaration: ".align 8 .v2 .f32".
struct VariableHead {
  Space space = Space::kGeneric;
  Type type = Type::kNone;
  std::uint32_t elements = 1;  // elements of a vector
  std::uint32_t align = 0;     // 0: the alignment of the type
  bool external = false;
  bool pointer = false;
};

// Behind the space.
VariableHead read_variable_head(Tokens& tokens, Space space);
// Reads a name, dimensions and an initial value. The variable's size is subtracted from the
// module's `bytes_left`.
Variable read_variable(Tokens& tokens, const VariableHead& head, std::size_t* bytes_left);
// "(.param .b32 a, .param .align 8 .b8 b[16])": the parameters or the results of a function.
std::vector<Variable> read_parameters(Tokens& tokens, std::size_t* bytes_left);

}  // namespace krl::ptx
