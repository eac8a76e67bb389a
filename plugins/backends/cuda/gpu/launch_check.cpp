#include "plugins/backends/cuda/gpu/launch_check.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/evaluator/check/case_verdicts.hpp"
#include "plugins/backends/evaluator/check/evaluation_plan.hpp"
#include "plugins/backends/evaluator/oracle/oracle_client.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

// A pool that is there already is taken if it is up to so many times larger than needed.
constexpr std::size_t kMostOversized = 4;
constexpr std::size_t kFewestMembers = 4;
constexpr std::int64_t kFewElements = 512;  // too few to be changed at places that nobody guesses
// Share of the GPU's memory for members beyond the necessary ones.
constexpr std::uint64_t kPoolShare = 16;
// Members that the reference judges unless they are within the tolerance: of a pool that stays, at
// most.
constexpr std::size_t kExact = 3;
constexpr std::size_t kFewFresh = 2;  // a reference in float64 takes up to seconds a draw

std::vector<std::uint64_t> random_seeds(std::size_t number, std::mt19937_64& random) {
  std::vector<std::uint64_t> seeds(number);
  std::generate(seeds.begin(), seeds.end(), std::ref(random));
  return seeds;
}

}  // namespace

std::size_t LaunchCheck::room() const {
  const ResolvedCase& resolved = candidate_.task.cases[run_.case_index];
  std::uint64_t bytes = 1;
  for (const ResolvedTensor& tensor : resolved.tensors) {
    bytes += static_cast<std::uint64_t>(tensor.bytes());
  }
  return gpu_.description().memory_bytes / kPoolShare / bytes;
}

bool LaunchCheck::has_many_inputs() const {
  const auto& tensors = candidate_.task.cases[run_.case_index].tensors;
  const std::span inputs(tensors.data(), candidate_.task.definition.inputs.size());
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const ResolvedTensor& tensor) { return tensor.elements >= kFewElements; });
}

const std::vector<gpu::DrawnInputs>& LaunchCheck::pool(std::size_t least, std::mt19937_64& random) {
  least = std::max(least, std::min(kFewestMembers, room()));
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
  std::vector<gpu::DrawnInputs>& members = gpu_.pools()[pool_];
  if (members.empty()) members = new_pool(number, random);
  return members;
}

std::vector<gpu::DrawnInputs> LaunchCheck::new_pool(std::size_t number,
                                                    std::mt19937_64& random) const {
  std::vector<gpu::DrawnInputs> members;
  for (std::size_t m = 0; m < number; ++m) {
    const bool again = m % 2 == 1 && has_many_inputs();
    members.push_back({again ? members.back().seed : random(), Distribution::kAsGiven,
                       has_many_inputs() ? random() : 0});
    const bool other =
        m > 0 && m < std::min(kExact, 1 + room() / 2) && number >= kFewestMembers * m;
    if (!other) continue;
    const auto drawn = static_cast<Distribution>(1 + random() % (kDistributions - 1));
    members[m].distribution = suited(drawn, candidate_.task.definition);
  }
  return members;
}

std::vector<std::uint64_t> LaunchCheck::fresh_seeds(std::size_t most, std::mt19937_64& random) {
  const std::size_t number = trusted_ == nullptr ? std::min(most, kFewFresh) : most;
  const std::vector<std::uint64_t> seeds = random_seeds(number, random);
  gpu_.pools().erase(once_);
  once_ = pool_ = "once/" + std::to_string(random());
  for (const std::uint64_t seed : seeds) gpu_.pools()[pool_].push_back({seed});
  return seeds;
}

PlannedRun LaunchCheck::run_of(std::size_t member) const {
  const gpu::DrawnInputs& drawn = gpu_.pools()[pool_].at(member);
  PlannedRun run = run_;
  run.seed = drawn.seed;
  run.distribution = drawn.distribution;
  run.change = drawn.change;
  return run;
}

void LaunchCheck::make_pool(const GpuCandidate** in_checker) {
  gpu::Pool pool;
  pool.key = pool_;
  pool.members = gpu_.pools()[pool_];
  const std::size_t exact =
      pool_ == once_ ? 0 : std::min({pool.members.size(), kExact, 1 + room() / 2});
  while (pool.exact.size() < exact) {
    pool.exact.push_back(expectation(candidate_.task, run_of(pool.exact.size())));
  }
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

// Repeats a launch that went wrong, with the same inputs, in a freshly loaded module.
bool LaunchCheck::is_wrong_untimed(std::uint64_t member) {
  if (!gpu_.ask_runner("load", candidate_.load())) return false;
  const PlannedRun again = run_of(member);
  const auto inspections = run_and_inspect(gpu_, candidate_, {&again, 1});
  return inspections && !inspections->front().verdict.passed;
}

}  // namespace krl::cuda
