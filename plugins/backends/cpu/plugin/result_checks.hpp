// Validates the machine's report before it is used, because candidates may try to take over the
// machine's process. Pure.
#pragma once

#include <string>
#include <vector>

#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::cpu {

// Describes an inconsistency in the result of a job; empty if there is none. A consistent result
// has exactly the runs and launches that were planned, or those before the one that ended the job,
// which is among them.
std::string inconsistency(const Job& job, const Result& result);

// Puts the launches' names of kernels in the place of mangled ones, and cuts long messages.
// `mangled`, `names`: of the same kernels.
void name_for_people(const std::vector<std::string>& mangled, const std::vector<std::string>& names,
                     Result* result);

}  // namespace krl::cpu
