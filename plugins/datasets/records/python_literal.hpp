// Python literals, such as the profiles that the AI CUDA Engineer Archive keeps as printed dicts.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace krl::records {

// Reads dicts, lists, tuples, strings, numbers, True, False and None, nested at most 100 deep, as
// `ast.literal_eval` would: tuples become arrays, keys of dicts that are no strings their text.
// `nan` and `inf`, which repr() writes for numbers, are read too. Sets, bytes and complex numbers
// are not. Empty: the text is not a literal.
std::optional<nlohmann::json> read_python_literal(std::string_view text);

}  // namespace krl::records
