#include "plugins/backends/cuda/gpu/launch_check.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/evaluator/check/case_verdicts.hpp"
#include "plugins/backends/evaluator/oracle/oracle_client.hpp"

namespace krl::cuda {
namespace {

// A pool that is there already is taken if it is up to so many times larger than needed.
constexpr std::size_t kMostOversized = 4;
constexpr std::size_t kFewFresh = 2;  // a reference in float64 takes up to seconds a draw

std::vector<std::uint64_t> random_seeds(std::size_t number, std::mt19937_64& random) {
  std::vector<std::uint64_t> seeds(number);
  std::generate(seeds.begin(), seeds.end(), std::ref(random));
  return seeds;
}

}  // namespace

const std::vector<std::uint64_t>& LaunchCheck::seeds(std::size_t least, std::mt19937_64& random) {
  std::string key = candidate_.task.digest + "/" + std::to_string(run_.case_index);
  if (trusted_ != nullptr) {
    for (const std::string& name : trusted_->module.names) key += "/" + name;
  }
  const auto of_size = [&](std::size_t number) { return key + "/" + std::to_string(number); };
  const std::size_t fewest = std::bit_ceil(least);
  std::size_t number = fewest;
  while (number < kMostOversized * fewest && gpu_.pools().count(of_size(number)) == 0) number *= 2;
  if (gpu_.pools().count(of_size(number)) == 0) number = fewest;
  pool_ = of_size(number);
  std::vector<std::uint64_t>& seeds = gpu_.pools()[pool_];
  if (seeds.empty()) seeds = random_seeds(number, random);
  return seeds;
}

const std::vector<std::uint64_t>& LaunchCheck::fresh_seeds(std::size_t most,
                                                           std::mt19937_64& random) {
  const std::size_t number = trusted_ == nullptr ? std::min(most, kFewFresh) : most;
  gpu_.pools().erase(once_);
  once_ = pool_ = "once/" + std::to_string(random());
  return gpu_.pools()[pool_] = random_seeds(number, random);
}

void LaunchCheck::make_pool(const GpuCandidate** in_checker) {
  gpu::Pool pool;
  pool.key = pool_;
  pool.seeds = gpu_.pools()[pool_];
  pool.check = expectation(candidate_.task, run_);
  if (trusted_ != nullptr && *in_checker != trusted_) {
    gpu_.ask_checker("load", trusted_->load());
    *in_checker = trusted_;
  }
  const BufferSet buffers = trusted_ != nullptr ? trusted_->buffers(run_.case_index)
                                                : lay_out(candidate_.task, run_.case_index, {}, {});
  pool.program = buffers.program;
  pool.output_offsets = buffers.output_offsets;
  const auto problem = gpu_.ask_checker("pool", pool).get<ReferenceProblem>();
  if (problem.message.empty()) return;
  throw reference_failure(candidate_.task.definition, candidate_.task.cases[run_.case_index],
                          problem);
}

bool LaunchCheck::passes(gpu::Examine examine, const BufferSet& buffers,
                         const GpuCandidate** in_checker) {
  examine.pool = pool_;
  examine.runner = gpu_.runner();
  examine.input_offsets = buffers.input_offsets;
  examine.output_offsets = buffers.output_offsets;
  examine.guards = buffers.guards;
  auto examined = gpu_.ask_checker("examine", examine).get<gpu::Examined>();
  if (!examined.pool_is_known) {
    make_pool(in_checker);
    examine.fetched = true;
    examined = gpu_.ask_checker("examine", examine).get<gpu::Examined>();
  }
  if (examined.problems.empty()) return true;
  const gpu::SetProblem& problem = examined.problems.front();
  blame(problem, buffers, examine.members[problem.set]);
  return false;
}

void LaunchCheck::blame(const gpu::SetProblem& problem, const BufferSet& buffers,
                        std::uint64_t member) {
  const TaskDefinition& task = candidate_.task.definition;
  std::string what;
  switch (problem.kind) {
    case gpu::SetProblem::kGuard:
      gpu_.replace_runner();
      what = "it wrote outside of its buffers, " + buffers.place_of(problem.index);
      break;
    case gpu::SetProblem::kDecoy:
      what = "it wrote into decoy buffers, which belong to no launch";
      break;
    case gpu::SetProblem::kInput:
      what = "the input " + task.inputs[problem.index].name + " was changed";
      break;
    case gpu::SetProblem::kOutput:
      what = task.outputs[problem.index].name + ": " + std::to_string(problem.wrong) +
             " elements are wrong";
      if (!is_wrong_untimed(member)) break;
      return stop(run_.case_index, Verdict::kWrongResult,
                  what + " for inputs of a timed launch, and again when it ran on them untimed",
                  record_);
  }
  stop(run_.case_index, Verdict::kFlagged, "correct when checked, wrong when timed: " + what,
       record_);
}

// With the inputs of a launch that went wrong, and as it was before any launch.
bool LaunchCheck::is_wrong_untimed(std::uint64_t member) {
  if (!gpu_.ask_runner("load", candidate_.load())) return false;
  PlannedRun again = run_;
  again.seed = gpu_.pools()[pool_][member];
  const auto inspections = run_and_inspect(gpu_, candidate_, {&again, 1});
  return inspections && !inspections->front().verdict.passed;
}

}  // namespace krl::cuda
