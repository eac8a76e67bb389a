// Runs of compiled kernels in several orders of blocks and warps. A fault ends them; if none is found,
// what the first run left in the buffers is compared with what the others left. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/backends/cpu/plugin/machine_process.hpp"
#include "plugins/backends/cpu/plugin/time_estimate.hpp"
#include "plugins/backends/emulate/buffers.hpp"
#include "plugins/backends/evaluator/candidate/candidate_builder.hpp"

namespace krl::emulate {

// An element that differs between the first run and another one.
struct Difference {
  std::size_t buffer = 0;
  std::int64_t first = 0, count = 0;  // elements
  std::string values;                 // "0.5 and 1.5"
  cpu::Order order = cpu::Order::kForward;
};

struct Runs {
  cpu::Result first;  // the report of the run in order, with counters and what was printed
  std::vector<std::vector<std::byte>> contents;  // buffers after that run
  std::vector<std::string> orders;               // names of the orders whose runs ended
  std::vector<cpu::Encounter> encounters;        // places where warps met in any run, a line once
  std::optional<Difference> difference;
  // One of these tells why a run did not end, and `order` which.
  std::optional<cpu::Fault> fault;
  std::optional<cpu::LaunchError> launch_error;
  std::string stopped;  // it took too long
  std::string order;

  bool ended() const { return !fault && !launch_error && stopped.empty(); }
};

// "blocks in order", "blocks reversed", …
std::string_view name_of(cpu::Order order);

struct RunSettings {
  cpu::MachineOptions machine;
  std::uint64_t seed = 0;
  bool once = false;
};

// Throws as cpu::execute_job does.
Runs run_kernels(const evaluator::PreparedTask& task, const evaluator::Built& built,
                 const std::vector<Buffer>& buffers, const cpu::TimeEstimate& time,
                 const RunSettings& settings);

}  // namespace krl::emulate
