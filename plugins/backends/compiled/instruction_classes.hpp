// Counts the instructions of each kind in a kernel's PTX: as emitted by the compiler, inlined and
// unrolled, without unreachable code. This is a static count, not one of executions. A shuffle with
// an unused result counts, because compilers keep it. Pure.
#pragma once

#include <cstdint>
#include <kernelrl/evaluation.hpp>
#include <string>
#include <vector>

#include "plugins/backends/ptx/module.hpp"

namespace krl::compiled {

struct InstructionCounts {
  std::int64_t shuffles = 0;
  std::int64_t votes = 0;                // ballots, any, all, match, reduce, activemask
  std::int64_t barriers = 0;             // barriers of a block or a cluster, not of a warp
  std::int64_t vector_accesses = 0;      // accesses to global memory of 2, 4 or 8 elements
  std::int64_t tensor_instructions = 0;  // matrix products of tensor cores
  std::int64_t atomics = 0;
  // Accesses to arrays that did not fit registers; spills are not in PTX.
  std::int64_t local_accesses = 0;
  std::int64_t asynchronous_copies = 0;
};

// Counts the instructions of the kernels `names` (mangled) together, and of every function that
// they call, each once.
InstructionCounts count_instructions(const ptx::Module& module,
                                     const std::vector<std::string>& names);

// One value per count, by the names that the cpu backend uses as far as it has the same.
void add_instruction_values(const InstructionCounts& counts, std::vector<Value>* values);

}  // namespace krl::compiled
