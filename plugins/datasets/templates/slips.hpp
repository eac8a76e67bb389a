// Typical slips: small mistakes put into a right kernel, for examples that repair one.
#pragma once

#include <string>
#include <vector>

namespace krl::templates {

struct Slip {
  std::string name;
  std::string source;  // the broken kernel
};

// Every slip that the kernel offers a place for; at least one. `several_blocks`: its first launch
// has more than one.
std::vector<Slip> possible_slips(const std::string& source, bool several_blocks);

// Returns slips that any kernel shows when it is compiled or launched.
std::vector<Slip> slips_of_syntax(const std::string& source);

// The names of all slips.
std::vector<std::string> slip_names();

}  // namespace krl::templates
