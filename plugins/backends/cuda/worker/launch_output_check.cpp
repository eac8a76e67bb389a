#include "plugins/backends/cuda/worker/launch_output_check.hpp"

#include <algorithm>
#include <utility>

namespace krl::gpu {
namespace {

constexpr std::size_t kMostProblems = 4;
// Each of two results may be off by the tolerance and by rounding.
constexpr double kBoth = 2;

bool is_decoy(const Examine& examine, std::uint64_t set) {
  return set % examine.timed.sets() >= examine.timed.launches;
}

void add(const SetProblem& problem, std::vector<SetProblem>* problems) {
  if (problems->size() < kMostProblems) problems->push_back(problem);
}

}  // namespace

LaunchOutputCheck::LaunchOutputCheck(DeviceSession& session, OutputCheck& check,
                                     std::uint64_t memory_bytes)
    : session_(session),
      check_(check),
      memory_bytes_(memory_bytes),
      compare_(session.trusted("krl_compare_launches")) {}

ReferenceProblem LaunchOutputCheck::make(const Pool& pool) {
  Made made;
  made.program = pool.program;
  made.bytes = (pool.seeds.size() + 1) * pool.program.bytes;
  made.memory = allocate(made.bytes);
  ReferenceProblem problem = compute(pool, made);
  if (!problem.message.empty()) return problem;
  made.outputs = outputs_of(pool);
  keep(pool.key, std::move(made));
  return {};
}

ReferenceProblem LaunchOutputCheck::compute(const Pool& pool, const Made& made) {
  std::vector<std::uint64_t> seeds = pool.seeds;
  seeds.push_back(pool.check.seed);  // the one whose right outputs are known
  std::vector<std::uint64_t> places;
  for (std::size_t s = 0; s < seeds.size(); ++s) places.push_back(s * pool.program.bytes);
  session_.lay_out(made.memory.get(), pool.program, places, seeds, Distribution::kAsGiven, 0);
  if (pool.program.launches.empty()) {
    for (std::size_t s = 0; s < pool.seeds.size(); ++s) {
      Check of_seed = pool.check;
      of_seed.key = pool.key + "/" + std::to_string(s);
      of_seed.seed = pool.seeds[s];
      of_seed.output_offsets = pool.output_offsets;
      ReferenceProblem problem = check_.put_outputs(of_seed, made.set(s));
      if (!problem.message.empty()) return problem;
    }
    return {};
  }
  for (std::size_t s = 0; s < seeds.size(); ++s) session_.launch(pool.program, made.set(s));
  KRL_CUDA(cuCtxSynchronize);
  Check own = pool.check;
  own.output_offsets = pool.output_offsets;
  CheckResult checked = check_.check_outputs(own, made.set(pool.seeds.size()));
  for (const CheckedOutput& output : checked.outputs) {
    if (output.wrong != 0) checked.problem.message = "the task's own kernel is wrong";
  }
  return checked.problem;
}

std::vector<LaunchOutputCheck::Output> LaunchOutputCheck::outputs_of(const Pool& pool) {
  const std::vector<double> rounding = check_.largest_rounding(pool.check);
  std::vector<Output> outputs;
  for (std::size_t o = 0; o < pool.check.reference.outputs.size(); ++o) {
    const OracleTensor& output = pool.check.reference.outputs[o];
    const double atol = pool.check.atol + rounding[o];
    outputs.push_back({pool.output_offsets.at(o), elements_of(output), output.dtype, kBoth * atol,
                       kBoth * pool.check.rtol});
  }
  return outputs;
}

void LaunchOutputCheck::keep(const std::string& key, Made made) {
  bytes_ += made.bytes;
  pools_[key] = std::move(made);
  order_.push_back(key);
  while (bytes_ > memory_bytes_ && order_.size() > 1) {
    bytes_ -= pools_.at(order_.front()).bytes;
    pools_.erase(order_.front());
    order_.pop_front();
  }
}

Examined LaunchOutputCheck::examine(const Examine& examine) {
  if (!examine.fetched) {
    check_.fetch({examine.runner, examine.timed.program.bytes, examine.places, examine.kept});
  }
  const auto pool = pools_.find(examine.pool);
  if (pool == pools_.end()) return {false, {}};
  Examined examined;
  find_changes(examine, pool->second, check_.copies(), &examined.problems);
  find_wrong_outputs(examine, pool->second, check_.copies(), &examined.problems);
  return examined;
}

void LaunchOutputCheck::find_wrong_outputs(const Examine& examine, const Made& pool,
                                           CUdeviceptr copies, std::vector<SetProblem>* problems) {
  std::vector<DeviceComparison> comparisons;
  std::vector<SetProblem> where;
  std::uint64_t longest = 0;
  for (std::size_t s = 0; s < examine.places.size(); ++s) {
    if (is_decoy(examine, s)) continue;
    const CUdeviceptr set = copies + s * examine.timed.program.bytes;
    for (std::size_t o = 0; o < pool.outputs.size(); ++o) {
      const Output& output = pool.outputs[o];
      comparisons.push_back({set + examine.output_offsets.at(o),
                             pool.set(examine.members.at(s)) + output.offset, output.elements,
                             output.atol, output.rtol, static_cast<std::int32_t>(output.dtype),
                             is_floating(output.dtype) ? 1 : 0});
      where.push_back({SetProblem::kOutput, s, o, 0});
      longest = std::max(longest, output.elements);
    }
  }
  CUdeviceptr all = comparisons_.upload(comparisons);
  CUdeviceptr wrong = wrong_.upload(std::vector<std::uint64_t>(comparisons.size()));
  void* arguments[] = {&all, &wrong};
  launch_trusted(compare_, comparisons.size(), longest, arguments);
  std::vector<std::uint64_t> found(comparisons.size());
  KRL_CUDA(cuMemcpyDtoH, found.data(), wrong, found.size() * sizeof found[0]);
  for (std::size_t c = 0; c < found.size(); ++c) {
    where[c].wrong = found[c];
    if (found[c] != 0) add(where[c], problems);
  }
}

void LaunchOutputCheck::find_changes(const Examine& examine, const Made& pool, CUdeviceptr copies,
                                     std::vector<SetProblem>* problems) {
  std::vector<DeviceRange> ranges;
  std::vector<SetProblem> where;
  for (std::size_t s = 0; s < examine.places.size(); ++s) {
    const std::uint64_t set = s * examine.timed.program.bytes;
    const auto expect = [&](DeviceRange range, SetProblem::Kind kind, std::size_t index) {
      ranges.push_back(range);
      where.push_back({kind, s, index, 0});
    };
    for (std::size_t i = 0; i < examine.input_offsets.size(); ++i) {
      if (examine.input_offsets[i] < 0) continue;
      const Fill& input = pool.program.inputs.at(i);
      const auto size = static_cast<std::uint64_t>(size_of(static_cast<DType>(input.dtype)));
      expect({set + static_cast<std::uint64_t>(examine.input_offsets[i]), input.elements * size,
              pool.set(examine.members.at(s)) + input.offset},
             SetProblem::kInput, i);
    }
    for (std::size_t g = 0; g < examine.guards.size(); ++g) {
      const Region& guard = examine.guards[g];
      expect({set + guard.offset, guard.bytes, 0, examine.places[s] + guard.offset},
             SetProblem::kGuard, g);
    }
    if (!is_decoy(examine, s)) continue;
    for (const Region& blank : examine.timed.program.blank) {
      expect({set + blank.offset, blank.bytes, 0, kNone, examine.poisons.at(s)}, SetProblem::kDecoy,
             0);
    }
  }
  const auto found = check_.changes(copies, ranges, check_.arena(examine.runner).guards);
  for (std::size_t r = 0; r < found.size(); ++r) {
    if (found[r] != 0) add(where[r], problems);
  }
}

}  // namespace krl::gpu
