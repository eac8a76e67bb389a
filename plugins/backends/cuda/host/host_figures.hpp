// Properties of the compiled kernels of a candidate that launches them itself. The launches are
// unknown, so there are no figures for them: no occupancy, no dynamic shared memory. Pure.
#pragma once

#include <string>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"

namespace krl::cuda {
using namespace compiled;
using namespace evaluator;

// Adds a record per kernel of the module, and the values of instruction_classes.hpp; or makes the
// record a compile_error. `arch`: "sm_90a".
void add_host_figures(const CompiledModule& module, const std::string& arch,
                      EvaluationRecord* record);

}  // namespace krl::cuda
