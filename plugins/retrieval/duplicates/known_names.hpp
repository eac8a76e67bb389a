// Names that mean the same in every CUDA or Python source. Thread-safe.
#pragma once

#include <string_view>

namespace krl::retrieval {

// Keywords, of CUDA also types and built-in variables, and all that begins with two underscores.
bool is_known_name(std::string_view name, bool python);

// True for types of C++ or CUDA.
bool is_type(std::string_view name);

// Such a type that is no keyword, so that a text may call something else by its name.
bool is_library_type(std::string_view name);

// A member of a vector type or a built-in variable: x, y, z or w.
bool is_component(std::string_view name);

// True for words that do not change a kernel's computation: const, inline, …
bool is_qualifier(std::string_view name);

// True if an expression follows, so that a name there is not declared: return, else, in, …
bool precedes_expression(std::string_view name, bool python);

}  // namespace krl::retrieval
