// The program's output while no run is going on (then it is the Display's). Main thread.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace krl {

// Keeps the program's two streams to the program. What plugins and their children print, on either
// descriptor, goes to the error stream from here on: it is never taken for the program's output.
// First of all, once.
void keep_streams();
std::FILE* output();
std::FILE* errors();

void print(std::string_view text);
void print_error(std::string_view text);
void print_warning(const std::string& text);  // any thread

// Rows as columns two blanks apart, as wide as their longest cell; the last column is free.
std::string columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace krl
