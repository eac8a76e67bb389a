// Counts the instructions of each kind in a kernel's machine code (SASS), as emitted by the
// assembler, including spills. This is a static count, not one of executions. Pure; the CUBIN is
// untrusted.
#pragma once

#include <cstdint>
#include <kernelrl/evaluation.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace krl::compiled {

struct MachineCounts {
  std::int64_t shuffles = 0;
  std::int64_t votes = 0;                // and matches and reductions over a warp
  std::int64_t barriers = 0;             // barriers of a block or a cluster
  std::int64_t wide_accesses = 0;        // accesses to global memory of 8 or 16 bytes per thread
  std::int64_t tensor_instructions = 0;  // matrix products of tensor cores
  std::int64_t atomics = 0;
  std::int64_t local_accesses = 0;  // arrays that did not fit registers, and spills
  std::int64_t asynchronous_copies = 0;
};

// Counts the instructions of the kernels `names` (mangled) together; their code includes the
// functions that they call. Supports architectures sm_70 and later.
MachineCounts count_machine_instructions(std::string_view cubin,
                                         const std::vector<std::string>& names);

// One value per count: "sass_shuffles", …
void add_machine_values(const MachineCounts& counts, std::vector<Value>* values);

}  // namespace krl::compiled
