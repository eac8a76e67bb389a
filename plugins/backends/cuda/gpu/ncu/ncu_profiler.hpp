// Counters from Nsight Compute's `ncu`: it starts a runner, which behaves as for the evaluator,
// stops it at each launch of the candidate, and repeats the launch as often as its metrics require,
// with a cold L2 each time. One ncu process profiles all runs of a candidate and reports when it
// ends. It takes seconds, so it is for a closer look. Used by one thread at a time.
#pragma once

#include <chrono>
#include <kernelrl/checked.hpp>
#include <kernelrl/temporary_folder.hpp>
#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/ncu/ncu_report.hpp"
#include "plugins/backends/cuda/worker/counters/counter.hpp"
#include "plugins/backends/cuda/worker/protocol.hpp"
#include "plugins/process/conversation.hpp"

namespace krl::cuda {

struct NcuStart {
  std::string program;  // ncu; empty = it is not used
  std::string runner;   // kernelrl-gpu-runner
  std::vector<std::string> environment;
  gpu::Setup setup;
  std::chrono::milliseconds run_limit{10'000};  // limit of one run without ncu
};

class NcuProfiler {
 public:
  explicit NcuProfiler(NcuStart start) : start_(std::move(start)) {}

  // Explains to people why ncu does not work here and what to do about it; empty if it profiled a
  // kernel of our own with all metrics. Takes some seconds.
  std::string problem();

  // Returns the counters of each run, or the reason why there are none. `load`: the candidate's
  // module.
  Checked<std::vector<std::vector<gpu::Counter>>, std::string> profile(
      const gpu::Load& load, const std::vector<gpu::Run>& runs);

 private:
  struct Profiled {
    std::vector<NcuLaunch> launches;
    std::string problem;  // no launches then
  };

  Profiled launches_of(const gpu::Load& load, const std::vector<gpu::Run>& runs);
  process::Command command(const std::vector<std::string>& kernels) const;
  // Asks the runner for all of it. If it fails, *problem has the reason.
  void converse(process::Conversation& ncu, const gpu::Load& load,
                const std::vector<gpu::Run>& runs, std::string* problem) const;
  std::string log_file() const { return (folder_->path() / "log").string(); }

  const NcuStart start_;
  std::unique_ptr<TemporaryFolder> folder_;  // ncu's, for its log, locks and sockets
};

}  // namespace krl::cuda
