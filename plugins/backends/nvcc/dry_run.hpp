// Parses the output of `nvcc --dryrun`: shell lines, each after "#$ ", that set variables or are
// commands. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace krl::nvcc {

struct DryRun {
  std::map<std::string, std::string> variables;    // the last value of each
  std::vector<std::vector<std::string>> commands;  // words, variables replaced
};

DryRun read_dry_run(std::string_view text);

}  // namespace krl::nvcc
