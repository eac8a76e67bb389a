// The report of an emulation in JSON, as docs/emulate.md describes it. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "plugins/backends/cpu/plugin/time_estimate.hpp"
#include "plugins/backends/emulate/kernels.hpp"
#include "plugins/backends/emulate/runs.hpp"

namespace krl::emulate {

// The report of code that does not compile, or is not supported: the verdict says which.
nlohmann::ordered_json report_of(const KernelFile& file,
                                 const evaluator::EvaluationRecord& compiled);

nlohmann::ordered_json report_of(const KernelFile& file, const std::vector<Buffer>& buffers,
                                 const evaluator::Built& built, const Runs& runs,
                                 const cpu::TimeEstimate& time);

}  // namespace krl::emulate
