// Kernels run without a task, on the machine of the backend `cpu`, by a program of its own. Calls block.
#pragma once

#include <nlohmann/json.hpp>

#include "service/process/child_program.hpp"

namespace krl::service {

// `request` has the keys of EmulationRequest (plugins/backends/emulate/emulation.hpp), with texts as
// `kernelrl emulate` takes them. Returns the report, whose keys docs/emulate.md describes. A fault of the
// kernels is no error.
Result<nlohmann::ordered_json> emulate(const nlohmann::ordered_json& request, ChildOptions child);

}  // namespace krl::service
