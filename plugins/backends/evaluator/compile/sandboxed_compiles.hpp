// CudaCompiler::compile with a sandboxed worker that takes the kernels' names after its other
// arguments.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/backends/evaluator/compile/cuda_compiler.hpp"

namespace krl::evaluator {

// `worker`: complete except for the names, which go to the end of its first step.
inline auto sandboxed_compiles(CompileWorkerOptions worker) {
  return
      [worker = std::move(worker)](std::string_view source, const std::vector<std::string>& kernels,
                                   const Cancelled& cancelled) {
        CompileWorkerOptions one = worker;
        one.steps.front().insert(one.steps.front().end(), kernels.begin(), kernels.end());
        return compile(one, source, cancelled);
      };
}

}  // namespace krl::evaluator
