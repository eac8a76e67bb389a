// Compiles with warm servers: processes that have loaded NVRTC and fork for each compile. A server
// compiles one source at a time, and only sources that begin with the same large headers; as many
// are kept as compiles ever ran at once. If a compile is interrupted, its server is discarded too,
// and the next compile gets a new one. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/evaluator/compile/compile_worker.hpp"
#include "plugins/backends/evaluator/evaluation_request.hpp"
#include "plugins/backends/nvrtc/server_protocol.hpp"
#include "plugins/process/starting_thread.hpp"

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
  ~CompileServers();

  // `kernels`: as launches name them. Throws Failure as compile does.
  evaluator::CompileOutput compile(std::string_view source, const std::vector<std::string>& kernels,
                                   const evaluator::Cancelled& cancelled);
  // The same of PTX. REQUIRES: an assembler.
  evaluator::CompileOutput assemble(std::string_view ptx, const std::vector<std::string>& kernels,
                                    const evaluator::Cancelled& cancelled);

 private:
  class Server;

  evaluator::CompileOutput run(const CompileRequest& request,
                               const evaluator::Cancelled& cancelled);
  std::unique_ptr<Server> idle(const std::string& preamble);  // null if there is none
  void keep(const std::string& preamble, std::unique_ptr<Server> server);

  const CompileServerOptions options_;
  process::StartingThread starts_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<Server>>> idle_;  // keyed by preamble
};

}  // namespace krl::nvrtc
