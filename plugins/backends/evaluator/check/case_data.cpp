#include "plugins/backends/evaluator/check/case_data.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

#include "plugins/backends/evaluator/task_origin.hpp"
#include "plugins/files/digest.hpp"

namespace krl::evaluator {
namespace {

// Covers only what the task asks for, so that draws and cached evaluations do not depend on where
// its file lies.
std::string digest_of(TaskDefinition task) {
  task.origin = {};
  return files::Digest().add(to_json(task).dump()).hex();
}

CaseData make(OracleClient& oracle, const PreparedTask& task, const PlannedRun& run) {
  const ResolvedCase& resolved = task.cases[run.case_index];
  CaseData data;
  for (const TensorDefinition& definition : task.definition.inputs) {
    const ResolvedTensor& tensor = *resolved.find(definition.name);
    data.inputs.emplace_back(static_cast<std::size_t>(tensor.bytes()));
    fill_input(tensor, run.seed, run.distribution, data.inputs.back());
  }
  data.expected =
      oracle.expected(task.definition, resolved, data.inputs, repeats_values(run.distribution));
  return data;
}

// All of its tensors together.
std::int64_t bytes_of(const ResolvedCase& shape) {
  std::int64_t bytes = 0;
  for (const ResolvedTensor& tensor : shape.tensors)
    bytes += std::min(tensor.bytes(), kMostRealBytes + 1);
  return bytes;
}

// Before anybody fills or maps anything.
void require_moderate(const PreparedTask& task, std::size_t case_index) {
  const std::int64_t most = task.is_real(case_index) ? kMostRealBytes : kMostCaseBytes;
  if (bytes_of(task.cases[case_index]) <= most) return;
  invalid_argument(located(task, case_index) + " has tensors of more than " +
                   std::to_string(most >> 20) + " MiB; make it smaller");
}

void add_launchable(const std::vector<IntegerNames>& shapes, PreparedTask* task) {
  for (const IntegerNames& values : shapes) {
    auto shape = resolve_case(task->definition, values);
    if (shape && bytes_of(*shape) <= kMostRealBytes) task->launchable.push_back(*std::move(shape));
  }
}

}  // namespace

std::string origin_of(const PreparedTask& task, std::size_t case_index) {
  const auto element = [&](const char* list, std::size_t first) {
    return origin_of(task.definition, list + ("[" + std::to_string(case_index - first)) + "]");
  };
  if (task.kind_of(case_index) == CaseKind::kFresh) return origin_of(task.definition, "ranges");
  if (task.kind_of(case_index) == CaseKind::kHoldout) return element("holdout", task.n_cases);
  if (task.is_real(case_index)) return element("real", task.n_small());
  return element("cases", 0);
}

std::string located(const PreparedTask& task, std::size_t case_index) {
  const bool fresh = task.kind_of(case_index) == CaseKind::kFresh;
  return origin_of(task, case_index) + ": the " + (fresh ? "shape " : "case ") +
         task.cases[case_index].label + (fresh ? " of the ranges" : "");
}

PreparedTask prepare_task(std::string_view definition_json, Sizes sizes) {
  Checked<TaskDefinition, std::string> parsed = parse_task_definition(definition_json);
  if (!parsed) invalid_argument(parsed.error());
  PreparedTask task;
  task.definition = *std::move(parsed);
  task.digest = digest_of(task.definition);
  task.n_real = sizes == Sizes::kReal ? task.definition.real.size() : 0;
  task.n_cases = task.definition.cases.size() + task.n_real;
  task.n_holdouts = task.definition.holdout.size();
  for (const auto* list :
       {&task.definition.cases, &task.definition.real, &task.definition.holdout}) {
    if (list == &task.definition.real && task.n_real == 0) continue;
    for (const IntegerNames& values : *list) {
      auto resolved = resolve_case(task.definition, values);
      if (!resolved) invalid_argument(resolved.error().path + ": " + resolved.error().message);
      task.cases.push_back(*std::move(resolved));
      require_moderate(task, task.cases.size() - 1);
    }
  }
  task.pool = make_pool(task.definition, task.n_real > 0 ? kUpToReal : kUpToCases);
  if (sizes == Sizes::kSmall) add_launchable(task.definition.real, &task);
  add_launchable(ends_of_ranges(task.definition), &task);
  return task;
}

PreparedTask select_cases(const PreparedTask& task, std::uint32_t stages, std::uint64_t set) {
  PreparedTask asked{task.definition, task.digest, task.cases,    task.n_cases,   task.n_real,
                     task.n_holdouts, {},          task.protocol, task.launchable};
  if ((stages & KRL_STAGE_HOLDOUT) == 0) {
    asked.n_holdouts = 0;
    asked.cases.resize(asked.n_cases);
  }
  const FreshPool& pool = task.pool;
  if ((stages & KRL_STAGE_POOL) != 0) {
    asked.cases.insert(asked.cases.end(), pool.shapes.begin(), pool.shapes.end());
  } else if ((stages & (KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT)) != 0 && !pool.sets.empty()) {
    for (const std::size_t shape : pool.sets[set % pool.sets.size()])
      asked.cases.push_back(pool.shapes[shape]);
  }
  return asked;
}

std::shared_ptr<const PreparedTask> TaskStore::get(std::string_view definition_json) {
  const std::string key(definition_json);
  return kept_.get(key, [&] {
    PreparedTask task = prepare_task(definition_json, sizes_);
    if (protocol_ == Protocol::kKernelBench) task = as_kernelbench(std::move(task));
    constexpr std::size_t kShapeBytes = 1 << 10;  // about
    const std::size_t shapes = task.cases.size() + task.pool.shapes.size() + task.launchable.size();
    return std::pair(std::move(task), key.size() + shapes * kShapeBytes);
  });
}

std::size_t CaseData::bytes() const {
  std::size_t total = sizeof *this;
  for (const auto& input : inputs) total += input.size();
  for (const ExpectedOutput& output : expected) total += output.bytes();
  return total;
}

std::shared_ptr<const CaseData> CaseStore::get(const PreparedTask& task, const PlannedRun& run) {
  const std::string key = task.digest + "/" + task.cases[run.case_index].label + "/" +
                          std::to_string(run.seed) + "/" +
                          std::to_string(static_cast<int>(run.distribution));
  return kept_.get(key, [&] {
    CaseData data = make(oracle_, task, run);
    const std::size_t bytes = data.bytes();
    return std::pair(std::move(data), bytes);
  });
}

}  // namespace krl::evaluator
