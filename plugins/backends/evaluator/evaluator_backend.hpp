// A backend of the evaluator: the options that all of them have, and the way from the host's calls to
// the evaluator. A backend derives from it, adds its own options to `shared_options`, and makes its
// evaluator in start().
#pragma once

#include <kernelrl/sdk.hpp>
#include <memory>
#include <string>

#include "plugins/backends/evaluator/compile/compile_settings.hpp"
#include "plugins/backends/evaluator/evaluator.hpp"

namespace krl::evaluator {

class EvaluatorBackend : public Backend {
 public:
  std::string protocol = "kernelrl", cuda, triton, sandbox = "available", cache;
  double compile_timeout = 10, cache_mb = 1024;
  std::int64_t concurrency = 0;

  static constexpr auto shared_options = krl::config(
      opt("protocol", &EvaluatorBackend::protocol,
          "the rules: kernelrl's, or KernelBench's: five draws of a task's inputs at its real sizes, "
          "1e-4 (1e-2 in 16 bits) absolute and relative; the reference is the baseline")
          .one_of("kernelrl|kernelbench"),
      opt("cuda", &EvaluatorBackend::cuda,
          "folder of the CUDA toolkit, or the compiler or NVRTC library; empty = the usual places"),
      opt("triton", &EvaluatorBackend::triton,
          "folder that holds the Python package `triton`; empty = where scripts/setup.sh puts it"),
      opt("compile_timeout", &EvaluatorBackend::compile_timeout, "time limit of a compile, seconds")
          .range(0.1, 3600),
      opt("concurrency", &EvaluatorBackend::concurrency,
          "concurrent evaluations, or compiles for GPUs; 0 = one per processor core")
          .range(0, 1024),
      opt("sandbox", &EvaluatorBackend::sandbox,
          "a missing layer of the sandbox (docs/security.md) is an error with complete, and a "
          "warning with available")
          .one_of("available|complete"),
      opt("cache", &EvaluatorBackend::cache,
          "folder for cached evaluations; empty = the user's cache folder, \"off\" = none"),
      opt("cache_mb", &EvaluatorBackend::cache_mb, "maximum size of the cache folder, MiB")
          .range(1, 1048576));

  void prepare(const Task& task, const EvaluateOptions& options, const Context& context) final;
  void evaluate(const Candidate& candidate, const EvaluateOptions& options,
                const EvaluationSink& sink, const Context& context) final;

 protected:
  // `name`: as plans and messages call it.
  explicit EvaluatorBackend(const char* name) : name_(name) {}

  std::uint32_t at_a_time() const;  // evaluations or compiles
  Protocol chosen_protocol() const;
  CompileSettings compile_settings(std::string arch) const;
  EvaluatorSettings evaluator_settings(Sizes sizes, std::int64_t runs_per_case) const;

  static std::chrono::milliseconds milliseconds(double seconds);
  static std::uint64_t mebibytes(double n);

  const char* const name_;
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace krl::evaluator
