// One GPU with its processes: the checker, the runner of candidates, and a spare that replaces the
// runner immediately when a candidate has broken it. Candidates with host code run in a different
// kind of runner, sandboxed and one per candidate. Used by one thread at a time: the holder of its
// lease (gpu_pool.hpp).
#pragma once

#include <array>
#include <chrono>
#include <future>
#include <kernelrl/checked.hpp>
#include <kernelrl/values.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/counters.hpp"
#include "plugins/backends/cuda/worker/gpu_list.hpp"
#include "plugins/backends/cuda/worker/protocol.hpp"
#include "plugins/process/conversation.hpp"
#include "plugins/process/starting_thread.hpp"

namespace krl::cuda {

// The arguments with which all GPUs' processes are started.
struct GpuWorkers {
  std::string runner, checker;  // the programs
  std::string sandbox;          // kernelrl-sandbox, for runners; empty = none, and no host code
  std::string profiler;         // the one that reads counters, or ncu; empty = none is wanted
  bool profiler_is_ncu = false;
  std::string reference_device;          // device of the checker's libtorch: "auto", "cuda", "cpu"
  std::vector<std::string> environment;  // locates the driver and selects the visible GPUs
  std::vector<std::string> libraries;    // files that runners may load in addition to the driver's
  std::string trusted_code;              // trusted_kernels.cu, compiled for these GPUs
  std::uint64_t arena_bytes = 0;         // memory for buffers in each runner and in the checker
  std::chrono::milliseconds run_limit{10'000};  // limit of one run, unless RunLimit shortens it
  // Limit of one request to a checker, including loading.
  std::chrono::milliseconds check_limit{120'000};
};

// Samples of a baseline in the checker, timed as calls of host code are.
struct CalledBaseline {
  std::vector<double> ns;
  std::uint32_t calls = 1;  // calls per sample
  double least_ns = 0;      // the least median of any samples of it
  std::chrono::steady_clock::time_point at;
};

// The reason why a runner returned no result.
struct RunnerFailure {
  // kForged: the answer is not a valid one.
  enum Kind { kTrouble, kTimeout, kDied, kForged } kind = kTrouble;
  gpu::Trouble trouble;     // for kTrouble
  process::Ending ending;   // for kDied
  std::size_t request = 0;  // index of the failed request among several
};

enum class RunnerKind { kDevice, kHost };

// A GPU's process could not be started: the GPU may hang.
struct WorkerDoesNotStart : Failure {
  using Failure::Failure;
};

// Someone else has killed a GPU's process, as a system does that is short of memory. The GPU and
// the candidate are not at fault: another process takes its place at the next request.
struct WorkerKilled : Failure {
  using Failure::Failure;
};

class Gpu {
 public:
  // Starts its processes, which takes a while; the first request waits for them.
  Gpu(gpu::GpuDescription description, const GpuWorkers& workers);

  const gpu::GpuDescription& description() const { return description_; }

  // Sends one request to the runner, which executes the loaded code `runs` times. After any failure
  // but a refused launch the runner has been replaced. Throws WorkerKilled, unless the candidate
  // has host code and may have done that itself. `numbers`: for host code, how many numbers the
  // answer must have, since it may forge any; 0: none.
  Checked<nlohmann::json, RunnerFailure> ask_runner(const char* kind, const nlohmann::json& request,
                                                    std::uint32_t runs = 1,
                                                    std::size_t numbers = 0);
  // Requests to the runner, one run each, which continues to the next by itself. The first failure,
  // if there is one.
  std::optional<RunnerFailure> ask_runner_all(const char* kind,
                                              const std::vector<nlohmann::json>& requests);
  // One request to the checker. Throws WorkerKilled, and Failure(KRL_UNAVAILABLE) if it died, hung
  // or failed: the next request starts another. `parts`: of the request, each of which may take as
  // long as one.
  nlohmann::json ask_checker(const char* kind, const nlohmann::json& request,
                             std::size_t parts = 1);
  // The SM clock now; 0: unknown. Throws as ask_checker.
  double clock_mhz() { return ask_checker("clock", nullptr).get<double>(); }
  // The baselines' times in the checker, by the caller's keys; empty after it was replaced.
  std::map<std::string, double>& baseline_ns() { return current_checker().baseline_ns; }
  // The last samples of baselines of host code, by the caller's keys; the same holds.
  std::map<std::string, CalledBaseline>& called_baselines() {
    return current_checker().called_baselines;
  }
  // The members of pools that the checker has or shall make, by their keys; nothing after it was
  // replaced.
  std::map<std::string, std::vector<gpu::DrawnInputs>>& pools() { return current_checker().pools; }
  // The peak rates of the GPU.
  const evaluator::Peaks& peaks() { return current_checker().peaks; }
  // The time of an empty kernel in the checker, and by how much longer it takes in the runner.
  double empty_launch_ns() { return current_checker().empty_launch_ns; }
  double launch_difference_ns() { return current_runner().empty_launch_ns - empty_launch_ns(); }
  std::uint64_t arena_bytes() const { return workers_.arena_bytes; }
  std::chrono::milliseconds run_limit() const { return run_limit_; }
  // The GPU's free memory before the candidate with host code came.
  std::uint64_t free_bytes_before() const { return free_bytes_before_; }
  // Do other processes than the checker have a part of the GPU's time? And did they before that
  // candidate came? Throws as ask_checker.
  bool is_busy();
  bool is_shared() const { return is_shared_; }
  void limit_runs(std::chrono::milliseconds limit);
  // Does the runner's arena hold only what we have put there?
  bool arena_is_intact();
  // The number of the runner's memory in the checker.
  std::uint64_t runner();
  Counters& counters() { return counters_; }
  // Stops the process of host code until the next request to it, so that it uses no processor while
  // the checker works. Work that it has enqueued on the GPU continues.
  void pause_runner();
  // Replaces a runner that still answers, but whose memory a candidate has reached.
  void replace_runner();
  void give_up_runner() noexcept;  // likewise, in any state of the checker
  // Selects the kind of runner from now on; a runner that ran host code is discarded. Throws as
  // `ask_checker`; the kind is then kDevice.
  void choose_runner(RunnerKind kind);

 private:
  struct Worker {
    Worker(std::uint64_t its_number, const gpu::GuardKey& key, const process::Command& command)
        : number(its_number), guards(key), conversation(command) {}
    const std::uint64_t number;
    const gpu::GuardKey guards;  // guards of its arena
    process::Conversation conversation;
    gpu::Ready ready;
    std::uint64_t attached_to = 0;  // for a runner: the checker that maps its memory; 0 = none
    double empty_launch_ns = 0;     // before any candidate came
    bool paused = false;
    std::map<std::string, double> baseline_ns;  // for a checker, like the members below
    std::map<std::string, CalledBaseline> called_baselines;
    evaluator::Peaks peaks;
    std::map<std::string, std::vector<gpu::DrawnInputs>> pools;
  };
  using Starting = std::future<std::unique_ptr<Worker>>;

  // The workers of one kind: the one that runs candidates, and its replacement.
  struct Runners {
    std::unique_ptr<Worker> active;
    Starting spare;
  };

  Starting start_runner();
  Starting start_checker();
  Starting start(process::Command command);
  std::unique_ptr<Worker> started(Starting* starting, Starting (Gpu::*start)());
  Runners& runners() { return runners_[static_cast<std::size_t>(kind_)]; }
  void measure_empty_launch(Worker* worker) const;
  evaluator::Peaks peaks_of(Worker& checker) const;
  Worker& current_runner();
  Worker& current_checker();
  void attach_runner();
  void wait_for_memory();
  Checked<nlohmann::json, RunnerFailure> runner_answer(std::uint32_t runs);
  Checked<nlohmann::json, RunnerFailure> ask_host_runner(const char* kind,
                                                         const nlohmann::json& request,
                                                         std::uint32_t runs, std::size_t numbers);
  std::chrono::milliseconds limit_of(std::uint32_t runs) const;

  const gpu::GpuDescription description_;
  const GpuWorkers& workers_;
  std::chrono::milliseconds run_limit_ = workers_.run_limit;
  process::StartingThread starter_;  // starts all processes and must outlive them
  std::uint64_t next_number_ = 1;
  std::unique_ptr<Worker> checker_;
  Starting starting_checker_;
  RunnerKind kind_ = RunnerKind::kDevice;
  std::array<Runners, 2> runners_;  // indexed by kind
  std::uint64_t free_bytes_before_ = 0;
  bool is_shared_ = false;
  Counters counters_;
};

// While a runner holds sets of buffers that no one has looked at yet: if that fails, its arena is
// no more as the next candidate must find it, and it is replaced.
template <class Use>
void with_runner(Gpu& gpu, const Use& use) {
  try {
    use();
  } catch (...) {
    gpu.give_up_runner();
    throw;
  }
}

// The kind of runner for a time; afterwards candidates are device code again.
class RunnerChoice {
 public:
  RunnerChoice(Gpu& gpu, RunnerKind kind) : gpu_(gpu) { gpu_.choose_runner(kind); }
  RunnerChoice(const RunnerChoice&) = delete;
  ~RunnerChoice() { gpu_.choose_runner(RunnerKind::kDevice); }

 private:
  Gpu& gpu_;
};

// Limits the time of a run while it exists, and then restores the former limit.
class RunLimit {
 public:
  RunLimit(Gpu& gpu, std::chrono::milliseconds limit) : gpu_(gpu), before_(gpu.run_limit()) {
    gpu_.limit_runs(limit);
  }
  RunLimit(const RunLimit&) = delete;
  ~RunLimit() { gpu_.limit_runs(before_); }

 private:
  Gpu& gpu_;
  const std::chrono::milliseconds before_;
};

}  // namespace krl::cuda
