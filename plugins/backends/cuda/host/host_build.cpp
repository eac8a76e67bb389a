#include "plugins/backends/cuda/host/host_build.hpp"

#include <algorithm>

#include "plugins/backends/compiled/demangled.hpp"
#include "plugins/backends/compiled/instruction_classes.hpp"
#include "plugins/backends/cuda/host/host_checks.hpp"
#include "plugins/backends/cuda/host/host_source.hpp"
#include "plugins/backends/ptx/reader.hpp"

namespace krl::cuda {
using namespace compiled;
using namespace evaluator;
namespace {

// Returns a candidate's text with its call by the harness, or the reason why there is none.
Checked<std::string, SourceProblem> complete_source(std::string_view source,
                                                    const TaskDefinition& task, bool may_load) {
  std::optional<python::BoundAnswer> answer;
  if (python::is_model_answer(source)) {
    if (auto problem = check_size(source)) return *problem;
    auto bound = python::bind_model_answer(source, task);
    if (!bound) return bound.error();
    source = answer.emplace(*std::move(bound)).source;
  }
  const auto scanned = scan_source(source);
  if (!scanned) return scanned.error();
  if (auto problem = check_host_source(*scanned, task.forbid, may_load)) return *problem;
  return answer ? with_host_call(*answer) : with_host_call(source, *scanned, task);
}

// "scale<float, 4>" of a mangled name, without the parameters.
std::string readable(const std::string& mangled) {
  std::string name = demangled(mangled);
  if (name.empty()) return mangled;
  name.resize(std::min(name.size(), name.rfind('(')));
  if (name.rfind("void ", 0) == 0) name.erase(0, 5);
  return name;
}

void add_figures(const CompiledModule& module, const std::string& arch, EvaluationRecord* record) {
  std::string why = "invalid compiler output";
  const auto kernels = read_kernels(module, why);
  if (!kernels)
    return record->fail(Verdict::kCompileError, "the compiled code cannot be read: " + why);
  std::vector<std::string> names;
  for (const CompiledKernel& kernel : *kernels) {
    const CubinKernel& code = kernel.code;
    Kernel figures;
    figures.name = readable(code.name);
    figures.arch = arch;
    figures.registers = code.registers;
    figures.stack_bytes = code.stack_bytes;
    figures.spill_bytes = kernel.resources.spill_bytes;
    figures.shared_bytes = kernel.resources.shared_bytes;
    figures.max_threads = code.max_threads;
    record->kernels.push_back(std::move(figures));
    names.push_back(code.name);
  }
  const ptx::ReadResult code = ptx::read_module(module.ptx, "");
  if (!code.problem)
    add_instruction_values(count_instructions(code.module, names), &record->values);
}

}  // namespace

bool build_host_candidate(Attempt* attempt, bool may_load) {
  EvaluationRecord& record = *attempt->record;
  const auto source = complete_source(attempt->request.source, attempt->task.definition, may_load);
  if (!source) {
    record.fail(Verdict::kRejected, source.error().text());
    return false;
  }
  auto compiled = attempt->builder.compile_library(*source, attempt->cancelled);
  const bool runnable = compiled->report(&record);
  name_what_torch_lacks(&record.diagnostics);
  name_what_the_linker_refused(record.compile_log, &record.diagnostics);
  if (!runnable) {
    const std::string error = first_error(record.diagnostics);
    if (compiled->output.end == CompileOutput::kFailed && !error.empty()) record.why = error;
    return false;
  }
  add_figures(compiled->module, attempt->builder.compiler().arch, &record);
  attempt->built.compiled = std::move(compiled);
  return record.verdict == Verdict::kOk;
}

}  // namespace krl::cuda
