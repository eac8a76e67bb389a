#include "plugins/backends/evaluator/candidate/candidate_builder.hpp"

#include <kernelrl/proof_stage.h>

#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/compiled/instruction_classes.hpp"
#include "plugins/backends/compiled/machine_code.hpp"
#include "plugins/backends/evaluator/compile/source_file.hpp"
#include "plugins/backends/ptx/contents.hpp"
#include "plugins/backends/ptx/reader.hpp"
#include "plugins/files/digest.hpp"

namespace krl::evaluator {
using namespace compiled;
namespace {

constexpr std::uint64_t kCacheBytes = 128 << 20;
constexpr char kCannotAssemble[] =
    " does not assemble PTX here: answer in CUDA C++, or use a backend that does (docs/ptx.md)";

// Adds the size in a cache; 0 if it must not be kept.
std::pair<CompiledSource, std::size_t> with_size(CompiledSource compiled) {
  const CompiledModule& module = compiled.module;
  const std::size_t bytes = sizeof compiled + compiled.output.log.size() + module.ptx.size() +
                            module.cubin.size() + module.report.size() + module.library.size();
  const bool kept = compiled.verdict != Verdict::kTimeout;
  return {std::move(compiled), kept ? bytes : 0};
}

std::string unsupported_on(const std::string& machine, const ptx::ReadProblem& problem) {
  const std::uint32_t line = problem.place.source;
  return "unsupported on " + machine + ": " + problem.message +
         (line == 0 ? "" : " (line " + std::to_string(line) + ")");
}

}  // namespace

void CompiledSource::end_with(Verdict failed, std::string reason) {
  verdict = failed;
  why = std::move(reason);
}

bool CompiledSource::report(EvaluationRecord* record) const {
  record->compile_log = output.log;
  record->diagnostics = output.diagnostics;
  if (verdict == Verdict::kOk) return true;
  record->fail(verdict, why);
  record->repeatable = verdict != Verdict::kTimeout;
  return false;
}

CandidateBuilder::CandidateBuilder(CudaCompiler compiler, std::string ptx_machine)
    : compiler_(std::move(compiler)),
      ptx_machine_(std::move(ptx_machine)),
      target_{require_arch(compiler_.arch), compiler_.arch},
      sources_(kCacheBytes) {}

Checked<CandidateText, SourceProblem> CandidateBuilder::read(const EvaluationRequest& request,
                                                             const TaskDefinition& task) const {
  constexpr std::string_view kMark = KRL_PTX_MARK;
  const bool has_ptx = (request.stages & KRL_CANDIDATE_HAS_PTX) != 0 && !ptx_machine_.empty();
  const std::size_t mark = has_ptx ? request.source.rfind(kMark) : std::string_view::npos;
  const std::string_view source = request.source.substr(0, mark);
  auto scanned = scan_source(source);
  if (!scanned) return scanned.error();
  const bool ptx = is_ptx(*scanned);
  auto problem =
      ptx ? check_ptx(*scanned, task.forbid, compiler_.arch) : check_source(*scanned, task.forbid);
  if (problem) return *std::move(problem);
  CandidateText text{source, *std::move(scanned), ptx};
  if (mark != std::string_view::npos) text.ptx = request.source.substr(mark + kMark.size());
  return text;
}

std::optional<Built> CandidateBuilder::build(const PreparedTask& task, const CandidateText& text,
                                             std::size_t cases, const Cancelled& cancelled,
                                             EvaluationRecord* record) {
  auto schedule = read_schedule(text.scanned, task.definition, std::span(task.cases).first(cases),
                                target_.launch_limits());
  // A compile error comes before an error in a directive, which would count as a step further.
  auto compiled =
      compile(text, schedule ? schedule->kernels : std::vector<std::string>(), cancelled);
  if (!text.ptx.empty() && compiled->verdict == Verdict::kOk) {
    CompiledSource other = *compiled;  // the same kernels with other code
    other.module.ptx = text.ptx;
    check_contents(&other);
    compiled = std::make_shared<const CompiledSource>(std::move(other));
  }
  if (!compiled->report(record)) return std::nullopt;
  if (!schedule) {
    record->fail(Verdict::kLaunchError, described(schedule.error()));
    return std::nullopt;
  }
  return Built{*std::move(schedule), std::move(compiled)};
}

Built CandidateBuilder::build_trusted(const PreparedTask& task, const std::string& source,
                                      const std::string& what, const Cancelled& cancelled) {
  EvaluationRecord record;
  CudaSource scanned = scan_cuda_source(source);
  const bool ptx = is_ptx(scanned);
  auto built = build(task, {source, std::move(scanned), ptx}, task.n_cases, cancelled, &record);
  if (built) return *std::move(built);
  invalid_argument(task.definition.id + ": the " + what + ": " + record.why);
}

std::shared_ptr<const CompiledSource> CandidateBuilder::compile_library(
    const std::string& source, const Cancelled& cancelled) {
  return sources_.get(files::Digest().add("library").add(source).hex(), [&] {
    CompiledSource compiled;
    compiled.output = compiler_.compile_library(source, cancelled);
    auto module = module_from_bytes(std::exchange(compiled.output.module, {}));
    if (compiled.output.end != CompileOutput::kCompiled) {
      compiled.end_with(verdict_of(compiled.output.end), compiled.output.why);
    } else if (!module || module->library.empty()) {
      compiled.end_with(Verdict::kCompileError, "the compiler's output is not a valid library");
    } else {
      compiled.module = *std::move(module);
    }
    return with_size(std::move(compiled));
  });
}

std::shared_ptr<const CompiledSource> CandidateBuilder::compile(
    const CandidateText& text, const std::vector<std::string>& kernels,
    const Cancelled& cancelled) {
  files::Digest key;
  key.add("module").add(text.source);
  for (const std::string& kernel : kernels) key.add(kernel);
  const auto& make = text.is_ptx ? compiler_.assemble : compiler_.compile;
  return sources_.get(key.hex(), [&] {
    if (make) return with_size(read_output(make(text.source, kernels, cancelled), kernels.size()));
    CompiledSource refused;
    refused.end_with(Verdict::kRejected, compiler_.name + kCannotAssemble);
    return with_size(std::move(refused));
  });
}

CompiledSource CandidateBuilder::read_output(CompileOutput output, std::size_t n_kernels) const {
  auto module = module_from_bytes(std::exchange(output.module, {}));
  CompiledSource compiled;
  compiled.output = std::move(output);
  if (compiled.output.end != CompileOutput::kCompiled) {
    compiled.end_with(verdict_of(compiled.output.end), compiled.output.why);
    return compiled;
  }
  if (!module || module->names.size() != n_kernels) {
    compiled.end_with(Verdict::kCompileError, "the compiler's output is not a valid module");
    return compiled;
  }
  compiled.module = *std::move(module);
  std::string why;
  const auto kernels = read_kernels(compiled.module, why);
  if (kernels) compiled.kernels = requested_kernels(compiled.module, *kernels);
  check_contents(&compiled);
  if (!kernels && compiled.verdict == Verdict::kOk)
    compiled.end_with(Verdict::kCompileError, "the compiled code cannot be read: " + why);
  return compiled;
}

// Refuses the first construct that is not allowed, or that the machine does not support.
void CandidateBuilder::check_contents(CompiledSource* compiled) const {
  const CompiledModule& module = compiled->module;
  const ptx::ReadResult code = ptx::read_module(module.ptx, kSourceFile);
  std::string refused = !code.problem          ? ptx::first_problem(code.module, module.names)
                        : ptx_machine_.empty() ? code.problem->text()
                                               : unsupported_on(ptx_machine_, *code.problem);
  if (!refused.empty()) return compiled->end_with(Verdict::kRejected, std::move(refused));
  if (!ptx_machine_.empty()) return;
  add_instruction_values(count_instructions(code.module, module.names), &compiled->values);
  add_machine_values(count_machine_instructions(module.cubin, module.names), &compiled->values);
}

}  // namespace krl::evaluator
