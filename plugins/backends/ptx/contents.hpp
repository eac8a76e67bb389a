// Checks what a candidate's PTX may contain, with the same rules for every backend: a kernel reads
// its inputs and writes its outputs, by itself, in its launch. Features that only one machine lacks
// are not refused here.
#pragma once

#include <string>
#include <vector>

#include "plugins/backends/ptx/module.hpp"

namespace krl::ptx {

struct ContentsProblem {
  std::string message;  // "printf is not allowed: a kernel only writes its outputs"
  Place place;

  std::string text() const;  // "line 12: message", the line being of the candidate's file
};

// Checks the code that the kernels can execute, because nothing else of the module ever runs, and
// all variables. Returns each message once per line, the first dozen. Pure.
std::vector<ContentsProblem> check_contents(const Module& module,
                                            const std::vector<std::string>& kernels);

// Returns the first problem as text; empty if there is none.
std::string first_problem(const Module& module, const std::vector<std::string>& kernels);

}  // namespace krl::ptx
