// The protocol between kernelrl and a warm compile server: messages (message_stream.hpp) on the
// server's standard input and output. A request is a CompileRequest. The answer is `{"child": ID}`,
// the process that compiles, and, when that has ended, how: `{"exit_code", "signal", "cpu_seconds"}`.
// The compiler's output and the module are in memory files shared by both; kernelrl empties them
// between compiles.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/compile/compile_worker.hpp"

namespace krl::evaluator {

inline constexpr int kLogDescriptor = 3;  // the module's is kCompiledModuleDescriptor

// Exit codes of the process of one compile, if it ends by itself.
enum Exit { kCompiled = 0, kRefused = 1, kUnusable = 2 };

struct CompileRequest {
  std::string preamble;  // the server keeps it compiled, and is given only sources that begin so
  std::string source;
  std::vector<std::string> options;
  std::vector<std::string> kernels;  // spelled as in launches: "scale<float, 4>"
  std::uint32_t cpu_seconds = 0;     // processor time that the compile may take
  bool is_ptx = false;               // the source, which is assembled

  NLOHMANN_DEFINE_TYPE_INTRUSIVE(CompileRequest, preamble, source, options, kernels, cpu_seconds,
                                 is_ptx)
};

}  // namespace krl::evaluator
