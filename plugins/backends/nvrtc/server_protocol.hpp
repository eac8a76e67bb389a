// What kernelrl and a compile server say to each other: messages (message_stream.hpp) into the
// server's standard input and out of its standard output. A request is a CompileRequest. The answer
// is `{"child": ID}`, the process that compiles, and once that has ended, how: `{"exit_code",
// "signal", "cpu_seconds"}`. What the compiler says and the module are in memory files that both
// have; kernelrl empties them between compiles.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/compile/compile_worker.hpp"

namespace krl::nvrtc {

inline constexpr int kLogDescriptor = 3;
inline constexpr int kModuleDescriptor = kCompiledModuleDescriptor;

// How the process of one compile ends, if it ends by itself.
enum Exit { kCompiled = 0, kRefused = 1, kUnusable = 2 };

// A server is asked for sources of one preamble (needed_language.hpp) only.
struct CompileRequest {
  std::string preamble;
  std::string source;
  std::vector<std::string> options;
  std::vector<std::string> kernels;  // as launches name them, "scale<float, 4>"
  std::uint32_t cpu_seconds = 0;     // that the compile may take

  NLOHMANN_DEFINE_TYPE_INTRUSIVE(CompileRequest, preamble, source, options, kernels, cpu_seconds)
};

}  // namespace krl::nvrtc
