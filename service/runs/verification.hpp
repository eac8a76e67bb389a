// Evaluates the figures of a run again, here, and compares: those of its best kernels and those in
// its ledger whose sources it kept in samples/. Reads the run only; it may be active.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/plugin/components.hpp"
#include "core/run/run_directory.hpp"
#include "core/task/task.hpp"

namespace krl::service {
using namespace core;

struct VerificationOptions {
  BackendSettings backend;     // the judge; its caches are switched off
  RolloutSettings rollout;     // the plan's: contract and form of the answers
  std::uint64_t run_seed = 0;  // inputs follow from it, as in the run
  bool only_best = false;
  std::optional<std::size_t> sample;  // as many kernels of samples/ at most, the same in each call
};

struct Verification {
  std::size_t best = 0, samples = 0;  // kernels that were evaluated
  std::size_t differ = 0;             // figures that are others here
  std::size_t not_judged = 0;         // by infrastructure errors, or because their task is gone
  // Evaluations in the ledger besides: hold-outs, second ones of best kernels, and those whose
  // answers were not kept.
  std::size_t without_source = 0;
  std::size_t other_device = 0;  // kernels whose times are another device's: not compared
};

// Hears of every figure that differs or could not be judged: "row_sum, iteration 12", "ok was
// recorded, wrong_result here: …". One thread calls it at a time.
using Differs = std::function<void(const std::string& name, const std::string& how)>;

// `tasks`: all that the run knew. An error: a file of the run cannot be read, or the judge cannot
// start.
Result<Verification> verify_run(const RunLayout& run, const std::vector<Task>& tasks,
                                const VerificationOptions& options, Components& components,
                                const Differs& differs);

}  // namespace krl::service
