// Counts how many wrong kernels, derived from right ones, a backend refuses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/plugin/backend.hpp"
#include "service/mutation/mutant_counts.hpp"

namespace krl::service {

struct MutantOptions {
  std::size_t count = 1;  // mutants to derive
  std::uint64_t seed = 0;
  std::vector<std::string> folders;  // right kernels named after their tasks, besides naive ones
  // Gets a JSON line for each mutant; a later run goes on where it ends. Empty: no file.
  std::string output;
  // The output of a run with another backend: what it found to be no wrong kernel is left out.
  std::string equivalent;
  bool ptx = false;  // change the compiled code instead of the source
};

struct MutantReport {
  MutantCounts counts;
  std::size_t failed = 0;  // mutants not judged, and originals that are not right
};

// Judges as many mutants at a time as the backend does. `failed` hears of what is counted so; one
// thread calls it at a time. An error: a file of the options cannot be read or written.
Result<MutantReport> judge_mutants(const std::vector<Task>& tasks, const Backend& backend,
                                   const MutantOptions& options,
                                   const std::function<void(const std::string& why)>& failed);

}  // namespace krl::service
