// The evaluator's side of `kernelrl-oracle`: starts it when first needed, and again if it dies.
// Thread-safe; one request at a time.
#pragma once

#include <kernelrl/values.hpp>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/oracle/expected_output.hpp"
#include "plugins/backends/evaluator/oracle/oracle_protocol.hpp"
#include "plugins/backends/evaluator/sandbox/sandbox.hpp"
#include "plugins/process/subprocess.hpp"

namespace krl::evaluator {
using namespace process;

struct OracleOptions {
  std::string launcher, program;      // kernelrl-sandbox and kernelrl-oracle
  std::vector<std::string> readable;  // libtorch and what else the program loads
  // Loading libtorch included. A second attempt gets kWallSlack times as much.
  std::chrono::milliseconds request_limit{60'000};
};

// "file:line:column: the reference, rows=8: …", KRL_INVALID_ARGUMENT.
Failure reference_failure(const TaskDefinition& task, const ResolvedCase& resolved,
                          const ReferenceProblem& problem);

class OracleClient {
 public:
  explicit OracleClient(OracleOptions options) : options_(std::move(options)) {}

  // The expected values of each output of a case. `repeats`: as of oracle_request. `inputs`: the
  // elements of its inputs, in their order. Throws Failure: KRL_INVALID_ARGUMENT,
  // "file:line:column: …", where the reference is wrong; KRL_UNAVAILABLE, with the case and what
  // happened, where the oracle died twice or took too long.
  std::vector<ExpectedOutput> expected(const TaskDefinition& task, const ResolvedCase& resolved,
                                       const std::vector<std::vector<std::byte>>& inputs,
                                       bool repeats = false);

  // Returns the running oracle's process id, 0 if there is none.
  pid_t process_id();

 private:
  struct Session;
  OracleAnswer ask(const OracleRequest& request, const std::vector<std::vector<std::byte>>& inputs);

  const OracleOptions options_;
  std::mutex mutex_;
  std::shared_ptr<Session> session_;
};

}  // namespace krl::evaluator
