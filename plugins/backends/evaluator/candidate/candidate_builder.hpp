// From a candidate's text to what an executor runs: its launches and its compiled kernels.
// Thread-safe; identical concurrent compiles are done once.
#pragma once

#include <kernelrl/checked.hpp>
#include <kernelrl/python_source.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/compiled/compiled_kernels.hpp"
#include "plugins/backends/evaluator/cache/memory_cache.hpp"
#include "plugins/backends/evaluator/candidate/kernel_figures.hpp"
#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/compile/cuda_compiler.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/backends/evaluator/source/launch_schedule.hpp"
#include "plugins/backends/evaluator/source/static_checks.hpp"

namespace krl::evaluator {

// A candidate's text, scanned once for all that read it.
struct CandidateText {
  std::string_view source;
  ScannedSource scanned;
  std::string_view ptx = {};  // code that the candidate brings along (KRL_CANDIDATE_HAS_PTX)
};

// A source that was compiled: if its verdict is ok, to `module`.
struct CompiledSource {
  CompileOutput output;  // without its module
  compiled::CompiledModule module;
  std::vector<compiled::CompiledKernel> kernels;  // the requested ones, in their order
  std::vector<std::int64_t> shared_bytes;         // see LaunchSchedule
  std::vector<Value> values;                      // figures of the code, for every evaluation of it
  Verdict verdict = Verdict::kOk;
  std::string why;

  void end_with(Verdict failed, std::string reason);
  // Copies the compiler's messages into an evaluation, and the verdict if there is nothing to run.
  // Returns true if there is.
  bool report(EvaluationRecord* record) const;
};

// A candidate as an executor runs it. A library (contract host) has no schedule and no kernels.
struct Built {
  LaunchSchedule schedule;
  std::shared_ptr<const CompiledSource> compiled;

  const compiled::CompiledModule& module() const { return compiled->module; }
};

// Rules for compiled code. kCandidates: those of ptx/contents.hpp. kAny: it may contain all that the
// machine executes, such as printf.
enum class Contents { kCandidates, kAny };

class CandidateBuilder {
 public:
  // `ptx_machine`: the name of the machine that executes PTX itself, which candidates may bring
  // along; empty if a GPU executes the CUBIN, whose instructions are then counted.
  explicit CandidateBuilder(CudaCompiler compiler, std::string ptx_machine = {},
                            Contents contents = Contents::kCandidates);

  const CudaCompiler& compiler() const { return compiler_; }
  const Target& target() const { return target_; }

  // Scans and checks a candidate's text.
  Checked<CandidateText, SourceProblem> read(const EvaluationRequest& request,
                                             const TaskDefinition& task) const;

  // Resolves the launches of the first `cases` cases, and compiles for all. Fills in the record's log
  // and diagnostics, and its verdict if there is nothing to run. Throws Failure as the compiler does.
  std::optional<Built> build(const PreparedTask& task, const CandidateText& text, std::size_t cases,
                             const Cancelled& cancelled, EvaluationRecord* record);

  // Builds a kernel of the plan or the task for the shown cases. Throws
  // Failure(KRL_INVALID_ARGUMENT) with `what` it is if that fails.
  Built build_trusted(const PreparedTask& task, const std::string& source, const std::string& what,
                      const Cancelled& cancelled);

  // Compiles a source with host code, complete with the call by the harness.
  std::shared_ptr<const CompiledSource> compile_library(const std::string& source,
                                                        const Cancelled& cancelled);

 private:
  std::shared_ptr<const CompiledSource> compile(const CandidateText& text,
                                                const std::vector<std::string>& kernels,
                                                const Cancelled& cancelled);
  CompiledSource compile_anew(const CandidateText& text, const std::vector<std::string>& kernels,
                              const Cancelled& cancelled) const;
  // The same of a text in the language of a front end.
  CompiledSource translate(const CandidateText& text, const std::vector<std::string>& kernels,
                           const Cancelled& cancelled) const;
  CompiledSource read_output(CompileOutput output, std::size_t n_kernels) const;
  void check_contents(CompiledSource* compiled) const;

  const CudaCompiler compiler_;
  const std::string ptx_machine_;
  const Contents contents_;
  const Target target_;
  MemoryCache<CompiledSource> sources_;
};

}  // namespace krl::evaluator
