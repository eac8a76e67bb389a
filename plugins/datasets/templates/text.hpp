// Text templates: `$name` is replaced by an entry of a scope, `$(B / 2)` by the value of an integer
// expression of entries. Entries may themselves hold placeholders.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace krl::templates {

using Scope = std::map<std::string, std::string, std::less<>>;

// `text` with every placeholder that the scope knows replaced; others stay as they are. One line
// break at the beginning is dropped, so that a raw string may begin on a separate line. Throws
// std::length_error if entries refer to one another in a circle.
std::string substitute(std::string_view text, const Scope& scope);

// The same, complete: a placeholder that is left over throws std::out_of_range, which names it.
std::string expand(std::string_view text, const Scope& scope);

}  // namespace krl::templates
