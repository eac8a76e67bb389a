// Kernels as files for other evaluators (load_inline.py): a JSON object each, with the source, its
// launches in one case, what they take, and the task's reference.
#pragma once

#include <string>
#include <vector>

#include "bench/corpus.hpp"

namespace krl::bench {

// Writes FOLDER/0000.json, … for the first case of each. Throws Failure where a kernel has no
// launches.
void export_kernels(const std::vector<Work>& works, const std::string& folder);

}  // namespace krl::bench
