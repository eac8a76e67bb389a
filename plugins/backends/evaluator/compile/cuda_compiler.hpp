// A compiler as a value: the interface of NVRTC, nvcc, and nvcc in a container to the evaluator of the
// CUDA backends, and of the front ends that turn other languages into PTX for it to assemble.
#pragma once

#include <functional>
#include <kernelrl/language.hpp>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/backends/evaluator/compile/compile_worker.hpp"
#include "plugins/backends/evaluator/evaluation_request.hpp"

namespace krl::evaluator {

// A language that is compiled to PTX. Nothing that comes out is believed: the PTX is read, checked and
// assembled like a candidate's own.
struct FrontEnd {
  std::string name;      // "Triton 3.6.0"
  std::string identity;  // digest of everything but the source that decides the result

  // As CudaCompiler::compile; the module is the bytes of a Translation. Null if the language cannot
  // be compiled here.
  std::function<CompileOutput(std::string_view source, const std::vector<std::string>& kernels,
                              const Cancelled& cancelled)>
      translate = nullptr;
  std::string missing = {};  // why not, and what to do
};

struct CudaCompiler {
  std::string name;      // name and version: "NVRTC 13.0"
  std::string arch;      // target architecture: "sm_90"
  std::string identity;  // digest of everything but the source that decides the result

  // One compile, thread-safe. `kernels`: as launches name them, "scale<float, 4>"; the module is a
  // CompiledModule's bytes. Throws Failure as compile does.
  std::function<CompileOutput(std::string_view source, const std::vector<std::string>& kernels,
                              const Cancelled& cancelled)>
      compile;

  // The same for a source with host code, as with_host_call makes it: the module is a
  // library. Null if the compiler cannot.
  std::function<CompileOutput(std::string_view source, const Cancelled& cancelled)>
      compile_library = nullptr;

  // The same for PTX, whose entries have the kernels' names: the module has it, with '?' for bytes
  // that are not ASCII, and the CUBIN that it assembles to. Null if the compiler cannot.
  std::function<CompileOutput(std::string_view ptx, const std::vector<std::string>& kernels,
                              const Cancelled& cancelled)>
      assemble = nullptr;

  std::map<Language, FrontEnd> front_ends = {};  // for all but CUDA C++ and PTX

  // Names what compiles a candidate in that language: "Triton 3.6.0, NVRTC 13.0".
  std::string toolchain_of(Language language) const {
    const auto front_end = front_ends.find(language);
    return (front_end == front_ends.end() ? "" : front_end->second.name + ", ") + name;
  }

  void add(Language language, FrontEnd front_end) {
    identity += front_end.identity;
    front_ends.insert_or_assign(language, std::move(front_end));
  }
};

}  // namespace krl::evaluator
