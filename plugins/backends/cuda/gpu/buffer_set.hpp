// The layout of a candidate's buffers on the GPU in one case, with the inputs to generate and the
// launches to run there. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/backends/cuda/worker/protocol.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"

namespace krl::cuda {

// The next place where a buffer may begin: as cudaMalloc's.
inline std::uint64_t aligned(std::uint64_t offset) { return (offset + 255) / 256 * 256; }

struct BufferSet {
  gpu::Program program;
  std::vector<std::uint64_t> tensor_offsets;  // in the order of the case's tensors
  std::vector<std::int64_t> input_offsets;    // in the task's order; -1: computed in place
  std::vector<std::uint64_t> output_offsets;
  std::vector<gpu::Region> guards;  // around all buffers, never to be written
  // Names of the buffers that end before each guard; "" before the first.
  std::vector<std::string> guard_names;

  // Describes where a guard lies: "past the end of y".
  std::string place_of(std::size_t guard) const {
    const std::string& name = guard_names[guard];
    return name.empty() ? "before the first buffer" : "past the end of " + name;
  }
};

// The inputs of a case in memory of any layout: `offsets` in the task's order.
std::vector<gpu::Fill> fills_of(const evaluator::PreparedTask& task, std::size_t case_index,
                                const std::vector<std::uint64_t>& offsets);

// `kernels`: of the module, as the schedule names them.
BufferSet lay_out(const evaluator::PreparedTask& task, std::size_t case_index,
                  const ResolvedProgram& program, const std::vector<std::string>& kernels);

// The same for a candidate that launches its kernels itself.
BufferSet lay_out_host(const evaluator::PreparedTask& task, std::size_t case_index);

}  // namespace krl::cuda
