// Compiles with warm servers that have loaded NVRTC, and assembles PTX with nvJitLink beside it.
// Sources that begin with the same large headers share a server. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/evaluator/compile/warm_servers.hpp"

namespace krl::nvrtc {

struct CompileServerOptions {
  std::string launcher;                          // kernelrl-sandbox
  std::string program;                           // kernelrl-nvrtc
  std::string library;                           // libnvrtc
  std::string assembler;                         // libnvJitLink; empty if there is none
  evaluator::SandboxRules rules;                 // rules of a compile
  std::chrono::milliseconds time_limit{10'000};  // processor time, as the rules count it
  std::vector<std::string> options;              // options of every compile
};

class CompileServers {
 public:
  explicit CompileServers(CompileServerOptions options);

  // `kernels`: as launches name them. Throws Failure as compile does.
  evaluator::CompileOutput compile(std::string_view source, const std::vector<std::string>& kernels,
                                   const evaluator::Cancelled& cancelled);
  // The same of PTX. REQUIRES: an assembler.
  evaluator::CompileOutput assemble(std::string_view ptx, const std::vector<std::string>& kernels,
                                    const evaluator::Cancelled& cancelled);

 private:
  const std::vector<std::string> options_;
  evaluator::WarmServers servers_;
};

}  // namespace krl::nvrtc
