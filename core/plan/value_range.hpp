// The ranges of keys: "0..1", "1..", "..5", "fast|slow". Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl {

// "a|b|c" as a list; empty if the range is not of this form.
std::vector<std::string> choices_of(std::string_view range);

// Whether the range is "0..1", "1.." or "..5", its ends numbers in this order.
bool is_interval(std::string_view range);

// What a number outside of the range should have been, "at least 1" or "between 0 and 1"; nothing
// if it lies inside, ends included.
std::optional<std::string> expected_instead_of(double number, std::string_view range);

// The list as "a, b or c".
std::string either(const std::vector<std::string>& choices);

}  // namespace krl
