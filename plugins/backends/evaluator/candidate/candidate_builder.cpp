#include "plugins/backends/evaluator/candidate/candidate_builder.hpp"

#include <kernelrl/proof_stage.h>

#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/compiled/instruction_classes.hpp"
#include "plugins/backends/compiled/machine_code.hpp"
#include "plugins/backends/evaluator/compile/source_file.hpp"
#include "plugins/backends/evaluator/compile/translation.hpp"
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

CandidateBuilder::CandidateBuilder(CudaCompiler compiler, std::string ptx_machine,
                                   Contents contents)
    : compiler_(std::move(compiler)),
      ptx_machine_(std::move(ptx_machine)),
      contents_(contents),
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
  if (auto problem = check_source(*scanned, task.forbid, compiler_.arch))
    return *std::move(problem);
  CandidateText text{source, *std::move(scanned)};
  if (mark != std::string_view::npos) text.ptx = request.source.substr(mark + kMark.size());
  return text;
}

std::optional<Built> CandidateBuilder::build(const PreparedTask& task, const CandidateText& text,
                                             std::size_t cases, const Cancelled& cancelled,
                                             EvaluationRecord* record) {
  auto read = read_schedule(text.scanned, task.definition, std::span(task.cases).first(cases),
                            target_.launch_limits());
  LaunchSchedule schedule = read ? *read : LaunchSchedule{};
  // A front end compiles what the launches say: nothing if they are wrong, and at other shapes perhaps
  // a kernel for other constants.
  const bool is_translated = compiler_.front_ends.contains(text.scanned.language);
  if (!read && is_translated) {
    record->fail(Verdict::kLaunchError, described(read.error()));
    return std::nullopt;
  }
  for (std::size_t c = cases; is_translated && c < task.cases.size(); ++c) {
    const auto there =
        schedule_at(std::span(task.cases).subspan(c, 1), *read, target_.launch_limits());
    if (there) schedule.add_kernels(there->programs);
  }
  // A compile error comes before an error in a directive, which would count as a step further.
  auto compiled = compile(text, schedule.kernels, cancelled);
  if (!text.ptx.empty() && compiled->verdict == Verdict::kOk) {
    CompiledSource other = *compiled;  // the same kernels with other code
    other.module.ptx = text.ptx;
    check_contents(&other);
    compiled = std::make_shared<const CompiledSource>(std::move(other));
  }
  if (!compiled->report(record)) return std::nullopt;
  if (!read) {
    record->fail(Verdict::kLaunchError, described(read.error()));
    return std::nullopt;
  }
  schedule.set_shared_bytes(compiled->shared_bytes);
  return Built{std::move(schedule), std::move(compiled)};
}

Built CandidateBuilder::build_trusted(const PreparedTask& task, const std::string& source,
                                      const std::string& what, const Cancelled& cancelled) {
  EvaluationRecord record;
  auto built = build(task, {source, scan_candidate(source)}, task.n_cases, cancelled, &record);
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
  return sources_.get(key.hex(), [&] { return with_size(compile_anew(text, kernels, cancelled)); });
}

CompiledSource CandidateBuilder::compile_anew(const CandidateText& text,
                                              const std::vector<std::string>& kernels,
                                              const Cancelled& cancelled) const {
  const Language language = text.scanned.language;
  if (language == Language::kCuda)
    return read_output(compiler_.compile(text.source, kernels, cancelled), kernels.size());
  if (!compiler_.assemble) {
    CompiledSource refused;
    refused.end_with(Verdict::kRejected, compiler_.name + kCannotAssemble);
    return refused;
  }
  if (language != Language::kPtx) return translate(text, kernels, cancelled);
  return read_output(compiler_.assemble(text.source, kernels, cancelled), kernels.size());
}

CompiledSource CandidateBuilder::translate(const CandidateText& text,
                                           const std::vector<std::string>& kernels,
                                           const Cancelled& cancelled) const {
  CompiledSource compiled;
  const Language language = text.scanned.language;
  const auto front_end = compiler_.front_ends.find(language);
  if (front_end == compiler_.front_ends.end() || !front_end->second.translate) {
    compiled.end_with(Verdict::kRejected,
                      front_end == compiler_.front_ends.end()
                          ? std::string(name_of(language)) + " is not compiled here"
                          : front_end->second.missing);
    return compiled;
  }
  const FrontEnd& translator = front_end->second;
  compiled.output = translator.translate(text.source, kernels, cancelled);
  const auto translation =
      read_translation(std::exchange(compiled.output.module, {}), kernels.size());
  if (compiled.output.end != CompileOutput::kCompiled) {
    compiled.end_with(verdict_of(compiled.output.end), compiled.output.why);
    return compiled;
  }
  if (!translation) {
    compiled.end_with(Verdict::kCompileError, "the output of " + translator.name + " is not valid");
    return compiled;
  }
  const ScannedSource scanned = scan_cuda_source(translation->ptx);
  if (const auto problem = check_ptx(scanned, {}, compiler_.arch)) {
    compiled.end_with(Verdict::kRejected,
                      "the PTX of " + translator.name + ": " + problem->message);
    return compiled;
  }
  CompileOutput assembled = compiler_.assemble(translation->ptx, translation->names, cancelled);
  if (assembled.end != CompileOutput::kCompiled) {
    const bool failed = assembled.end == CompileOutput::kFailed;
    compiled.end_with(
        verdict_of(assembled.end),
        (failed ? "the PTX of " + translator.name + " does not assemble: " : "") + assembled.why);
    return compiled;
  }
  assembled.log = std::move(compiled.output.log);
  assembled.diagnostics = std::move(compiled.output.diagnostics);
  compiled = read_output(std::move(assembled), kernels.size());
  compiled.shared_bytes = translation->shared_bytes;
  return compiled;
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
  std::string refused;
  if (code.problem) {
    refused =
        ptx_machine_.empty() ? code.problem->text() : unsupported_on(ptx_machine_, *code.problem);
  } else if (contents_ == Contents::kCandidates) {
    refused = ptx::first_problem(code.module, module.names);
  }
  if (!refused.empty()) return compiled->end_with(Verdict::kRejected, std::move(refused));
  if (!ptx_machine_.empty()) return;
  add_instruction_values(count_instructions(code.module, module.names), &compiled->values);
  add_machine_values(count_machine_instructions(module.cubin, module.names), &compiled->values);
}

}  // namespace krl::evaluator
