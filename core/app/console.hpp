// The program's output while no run is going on (then it is the Display's).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krl {

void print(std::string_view text);
void print_error(std::string_view text);

// Rows as columns two blanks apart, as wide as their longest cell; the last column is free.
std::string columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace krl
