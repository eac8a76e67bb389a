// Did you mean …? For every name that a user can mistype.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krl {

// The member of `known` that is nearest to `word` by edits (insert, delete, replace, swap of
// neighbours); empty if none is near enough to be meant: at most a third of the word's length, and
// at least one.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace krl
