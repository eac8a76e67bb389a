#include "plugins/backends/cuda/worker/launch_output_check.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace krl::gpu {
using namespace evaluator;
namespace {

constexpr std::size_t kMostProblems = 4;
// At most so many sets that differ from the trusted program's outputs are compared with the
// reference, beginning with the largest differences: it may take long.
constexpr std::size_t kMostDifferent = 8;

bool is_decoy(const Examine& examine, std::uint64_t set) {
  return set % examine.timed.sets() >= examine.timed.launches;
}

void add(const SetProblem& problem, std::vector<SetProblem>* problems) {
  if (problems->size() < kMostProblems) problems->push_back(problem);
}

}  // namespace

LaunchOutputCheck::LaunchOutputCheck(DeviceSession& session, OutputCheck& check,
                                     std::uint64_t memory_bytes, KeptMemory& kept)
    : session_(session),
      check_(check),
      kept_(kept),
      memory_bytes_(memory_bytes),
      compare_(session.trusted("krl_compare_launches")) {
  kept_.add([this] { return drop_oldest(); });
}

ReferenceProblem LaunchOutputCheck::make(const Pool& pool) {
  Made made;
  made.pool = pool;
  made.checked = check_.expected(pool.check);
  if (!made.checked->problem.message.empty()) return made.checked->problem;
  made.bytes = (pool.members.size() + 1) * pool.program.bytes;
  kept_.make_room(made.bytes);
  made.memory = allocate(made.bytes);
  made.bytes += pool.check.reference.memory_bytes;
  ReferenceProblem problem = compute(made);
  if (!problem.message.empty()) return problem;
  for (std::size_t o = 0; o < pool.check.reference.outputs.size(); ++o) {
    const OracleTensor& output = pool.check.reference.outputs[o];
    made.outputs.push_back({pool.output_offsets.at(o), elements_of(output), output.dtype,
                            made.checked->memory.get() + output.rounding});
  }
  keep(pool.key, std::move(made));
  return {};
}

Check LaunchOutputCheck::Made::check_of(std::uint64_t member) const {
  Check check = pool.check;
  if (is_exact(member)) check = pool.exact[member];
  check.key = pool.key + "/" + std::to_string(member);
  check.drawn = pool.members.at(member);
  check.output_offsets = pool.output_offsets;
  return check;
}

ReferenceProblem LaunchOutputCheck::compute(const Made& made) {
  const Pool& pool = made.pool;
  std::vector<DrawnInputs> drawn = pool.members;
  drawn.push_back(pool.check.drawn);  // its expected outputs are known
  std::vector<std::uint64_t> places;
  for (std::size_t s = 0; s < drawn.size(); ++s) places.push_back(s * pool.program.bytes);
  session_.lay_out(made.memory.get(), pool.program, places, drawn, 0);
  if (pool.program.launches.empty()) {
    for (std::size_t s = 0; s < pool.members.size(); ++s) {
      ReferenceProblem problem = check_.put_outputs(made.check_of(s), made.set(s));
      if (!problem.message.empty()) return problem;
    }
    return {};
  }
  for (std::size_t s = 0; s < drawn.size(); ++s) session_.launch(pool.program, made.set(s));
  KRL_CUDA(cuCtxSynchronize);
  Check own = pool.check;
  own.output_offsets = pool.output_offsets;
  CheckResult checked = check_.check_outputs(own, made.set(pool.members.size()));
  for (const CheckedOutput& output : checked.outputs) {
    if (output.wrong != 0) checked.problem.message = "the task's own kernel is wrong";
  }
  return checked.problem;
}

void LaunchOutputCheck::keep(const std::string& key, Made made) {
  bytes_ += made.bytes;
  pools_[key] = std::make_shared<const Made>(std::move(made));
  order_.push_back(key);
  while (bytes_ > memory_bytes_ && order_.size() > 1) drop_oldest();
}

bool LaunchOutputCheck::drop_oldest() {
  if (order_.empty()) return false;
  bytes_ -= pools_.at(order_.front())->bytes;
  pools_.erase(order_.front());
  order_.pop_front();
  return true;
}

Examined LaunchOutputCheck::examine(const Examine& examine) {
  if (!examine.fetched) {
    check_.fetch({examine.runner, examine.timed.program.bytes, examine.places, examine.kept});
  }
  const auto found = pools_.find(examine.pool);
  if (found == pools_.end()) return {false, {}};
  const std::shared_ptr<const Made> pool = found->second;  // it may have to give way meanwhile
  Examined examined;
  find_changes(examine, *pool, check_.copies(), &examined.problems);
  find_wrong_outputs(examine, *pool, check_.copies(), &examined.problems);
  return examined;
}

void LaunchOutputCheck::find_wrong_outputs(const Examine& examine, const Made& made,
                                           CUdeviceptr copies, std::vector<SetProblem>* problems) {
  const std::vector<std::size_t> different = different_sets(examine, made, copies);
  std::set<std::size_t> sets(different.begin(),
                             different.begin() + std::min(different.size(), kMostDifferent));
  for (const std::size_t s : different) {
    if (made.is_exact(examine.members[s])) sets.insert(s);
  }
  for (const std::size_t s : sets) {
    if (problems->size() == kMostProblems) return;
    Check check = made.check_of(examine.members[s]);
    check.output_offsets = examine.output_offsets;
    const CheckResult checked =
        check_.check_outputs(check, copies + s * examine.timed.program.bytes);
    for (std::size_t o = 0; o < checked.outputs.size(); ++o) {
      const std::uint64_t wrong = checked.outputs[o].wrong;
      if (wrong != 0) add({SetProblem::kOutput, s, o, wrong}, problems);
    }
  }
}

std::vector<std::size_t> LaunchOutputCheck::different_sets(const Examine& examine, const Made& made,
                                                           CUdeviceptr copies) {
  std::vector<DeviceComparison> comparisons;
  std::vector<std::size_t> sets;  // sets of the comparisons
  std::uint64_t longest = 0;
  for (std::size_t s = 0; s < examine.places.size(); ++s) {
    if (is_decoy(examine, s)) continue;
    const CUdeviceptr set = copies + s * examine.timed.program.bytes;
    for (std::size_t o = 0; o < made.outputs.size(); ++o) {
      const Output& output = made.outputs[o];
      const std::uint64_t member = examine.members.at(s);
      comparisons.push_back({set + examine.output_offsets.at(o), made.set(member) + output.offset,
                             made.is_exact(member) ? 0 : output.rounding, output.elements,
                             made.pool.check.atol, made.pool.check.rtol,
                             static_cast<std::int32_t>(output.dtype),
                             is_floating(output.dtype) ? 1 : 0});
      sets.push_back(s);
      longest = std::max(longest, output.elements);
    }
  }
  CUdeviceptr all = comparisons_.upload(comparisons);
  CUdeviceptr wrong = wrong_.upload(std::vector<std::uint64_t>(comparisons.size()));
  void* arguments[] = {&all, &wrong};
  launch_trusted(compare_, comparisons.size(), longest, arguments);
  std::vector<std::uint64_t> found(comparisons.size());
  KRL_CUDA(cuMemcpyDtoH, found.data(), wrong, found.size() * sizeof found[0]);
  std::map<std::size_t, std::uint64_t> wrong_in;
  for (std::size_t c = 0; c < found.size(); ++c) {
    if (found[c] != 0) wrong_in[sets[c]] += found[c];
  }
  std::vector<std::size_t> different;
  for (const auto& [set, elements] : wrong_in) different.push_back(set);
  std::stable_sort(different.begin(), different.end(),
                   [&](std::size_t a, std::size_t b) { return wrong_in[a] > wrong_in[b]; });
  return different;
}

void LaunchOutputCheck::find_changes(const Examine& examine, const Made& made, CUdeviceptr copies,
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
      const Fill& input = made.pool.program.inputs.at(i);
      const auto size = static_cast<std::uint64_t>(size_of(static_cast<DType>(input.dtype)));
      expect({set + static_cast<std::uint64_t>(examine.input_offsets[i]), input.elements * size,
              made.set(examine.members.at(s)) + input.offset},
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
