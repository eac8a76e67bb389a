// The answers of kernelrl-gpu-profiler. It handles Setup and Load like the other processes of a GPU
// (protocol.hpp), and "profile", whose content is a Run and whose answer is a list of Counter. The
// answer to its Setup is a ProfilerReady. Plain values.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace krl::gpu {

// One value of a program's one run, over all of its launches.
struct Counter {
  std::string name, unit;  // named as in evaluations
  double value = 0;
};

struct ProfilerReady {
  std::string chip;                  // "GH100"
  std::size_t passes = 0;            // runs of a program that all counters take
  std::vector<std::string> metrics;  // CUPTI's and ncu's names of the counted metrics
};

// Behind "counters were refused", for people.
inline constexpr char kHowToPermitCounters[] =
    ": the driver keeps the GPU's counters for administrators. Run as root or with CAP_SYS_ADMIN "
    "(in a container: --cap-add SYS_ADMIN), or load the driver with "
    "NVreg_RestrictProfilingToAdminUsers=0: a line 'options nvidia "
    "NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d/nvidia.conf, then restart";

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Counter, name, unit, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProfilerReady, chip, passes, metrics)

}  // namespace krl::gpu
