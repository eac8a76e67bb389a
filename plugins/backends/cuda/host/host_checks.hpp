// Checks the text of a candidate with host code, before anything compiles it. There are few checks,
// because the sandbox, not the text, limits what such code can do. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/evaluator/compile/diagnostics.hpp"
#include "plugins/backends/evaluator/source/static_checks.hpp"

namespace krl::cuda {

// Returns the first problem of `source`: names of the harness, headers by a path of the machine,
// names that the task forbids, also as the beginning of a header's name ("cublas": cublas_v2.h);
// and functions that start programs or, unless it `may_load` some, load libraries.
std::optional<evaluator::SourceProblem> check_host_source(const ScannedSource& source,
                                                          const std::vector<std::string>& forbidden,
                                                          bool may_load = false);

// Says of errors about torch that it is our shim which lacks something, and what.
void name_what_torch_lacks(std::vector<Diagnostic>* diagnostics);

// Adds the first error of the linker: a function that it did not find, or else its own words.
void name_what_the_linker_refused(std::string_view log, std::vector<Diagnostic>* diagnostics);

}  // namespace krl::cuda
