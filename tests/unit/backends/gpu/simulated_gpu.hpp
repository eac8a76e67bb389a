// What the tests of a GPU's processes share: a machine with simulated GPUs (simulated_driver.cpp),
// a task, and its candidates (simulated_candidates.cpp).
#pragma once

#include <stdlib.h>
#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"
#include "plugins/backends/cuda/gpu/gpu_search.hpp"
#include "plugins/files/file.hpp"
#include "plugins/process/subprocess.hpp"

namespace krl::testing {
using namespace cuda;
using namespace evaluator;

inline constexpr char kWorkers[] = KERNELRL_BINARY_DIR "/libexec/kernelrl/";

inline constexpr char kTask[] = R"({
  "id": "double", "prompt": "y = 2 x", "axes": {"n": "var"},
  "input": [{"name": "x", "dtype": "float32", "shape": ["n"], "values": "normal"}],
  "output": [{"name": "y", "dtype": "float32", "shape": ["n"]}],
  "reference": "def run(x):\n    return 2 * x\n",
  "cases": [{"n": 1000}, {"n": 333}], "holdout": [{"n": 77}]})";

inline GpuWorkers simulated_workers() {
  ::setenv("LD_LIBRARY_PATH", KERNELRL_SIMULATED_FOLDER, 1);
  GpuWorkers workers;
  workers.runner = std::string(kWorkers) + "kernelrl-gpu-runner";
  workers.checker = std::string(kWorkers) + "kernelrl-gpu-checker";
  workers.reference_device = "cpu";
  workers.environment = gpu_environment();
  workers.trusted_code = files::read_file_or_empty(KERNELRL_SIMULATED_FOLDER "/trusted_kernels.so");
  workers.arena_bytes = 4 << 20;
  workers.run_limit = std::chrono::seconds(20);
  return workers;
}

inline const PreparedTask& task() {
  static const PreparedTask prepared = prepare_task(kTask);
  return prepared;
}

// One of simulated_candidates.cpp.
struct Candidate {
  LaunchSchedule schedule;
  CompiledModule module;

  // `map`: a directive that gives x_map, which is passed in the place of x.
  explicit Candidate(const std::string& kernel, const std::string& block = "64",
                     const std::string& map = "") {
    const std::string source = map + (map.empty() ? "" : "\n") + "// @launch " + kernel +
                               "<<<ceil_div(n, 64), " + block + ">>>(x" +
                               (map.empty() ? "" : "_map") + ", y, n)\n__global__ void " + kernel +
                               "(const float* x, float* y, int n);\n";
    auto read = read_schedule(scan_cuda_source(source), task().definition, task().cases, {});
    if (!read) throw std::runtime_error(read.error().message);
    schedule = *std::move(read);
    module = {
        files::read_file_or_empty(KERNELRL_SIMULATED_FOLDER "/candidates.so"), "", "", {kernel}};
  }
  operator GpuCandidate() const { return {task(), schedule, module}; }
};

// The GPU's processes that this one has started.
inline std::vector<pid_t> workers_of_this_process() {
  std::vector<pid_t> workers;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child; list >> child;) {
      std::string name;
      std::ifstream("/proc/" + std::to_string(child) + "/comm") >> name;
      if (name.rfind("kernelrl-gpu", 0) == 0) workers.push_back(child);
    }
  }
  return workers;
}

inline std::vector<PlannedRun> runs() { return plan_runs(2, 1, 3, {99, 98}); }

}  // namespace krl::testing
