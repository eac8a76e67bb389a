// Compiles with warm servers: sandboxed processes that have loaded a compiler and fork for each
// compile. A server compiles one source at a time, and only sources of one preamble; as many are kept
// as compiles ever ran at once. If a compile is interrupted, its server is discarded too, and the
// next compile gets a new one. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/compile/compile_request.hpp"
#include "plugins/backends/evaluator/compile/compile_worker.hpp"
#include "plugins/backends/evaluator/evaluation_request.hpp"
#include "plugins/process/message_stream.hpp"
#include "plugins/process/starting_thread.hpp"

namespace krl::evaluator {

struct WarmServerOptions {
  std::string launcher;                          // kernelrl-sandbox
  std::vector<std::string> command;              // the server and its arguments
  SandboxRules rules;                            // rules of a compile
  std::chrono::milliseconds time_limit{10'000};  // processor time, as the rules count it
  std::uint64_t preamble_bytes = 0;  // the most that a server keeps in files for its preamble
  Encoding encoding = Encoding::kCbor;
};

class WarmServers {
 public:
  explicit WarmServers(WarmServerOptions options);
  ~WarmServers();

  // Fills in the request's limit. Throws Failure as compile does.
  CompileOutput compile(CompileRequest request, const Cancelled& cancelled);

 private:
  class Server;

  std::unique_ptr<Server> idle(const std::string& preamble);  // null if there is none
  void keep(const std::string& preamble, std::unique_ptr<Server> server);

  const WarmServerOptions options_;
  process::StartingThread starts_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<Server>>> idle_;  // keyed by preamble
};

}  // namespace krl::evaluator
