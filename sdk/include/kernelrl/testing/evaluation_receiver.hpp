// Receives the values that a backend under test pushes.
#pragma once

#include <kernelrl/evaluation.hpp>

namespace krl::testing {

// A krl_evaluation_sink that builds an Evaluation and checks nothing.
class EvaluationReceiver {
 public:
  EvaluationReceiver()
      : sink_{sizeof(krl_evaluation_sink),
              0,
              this,
              identity,
              compile_log,
              push<krl_diagnostic, &Evaluation::diagnostics>,
              push<krl_kernel, &Evaluation::kernels>,
              push<krl_case, &Evaluation::cases>,
              push<krl_value, &Evaluation::values>,
              verdict} {}
  EvaluationReceiver(const EvaluationReceiver&) = delete;
  EvaluationReceiver& operator=(const EvaluationReceiver&) = delete;

  const krl_evaluation_sink* c() const { return &sink_; }
  const Evaluation& evaluation() const { return evaluation_; }
  int verdicts() const { return verdicts_; }  // number of verdicts pushed

 private:
  using Sink = krl_evaluation_sink;

  static EvaluationReceiver& of(const Sink* sink) {
    return *static_cast<EvaluationReceiver*>(sink->ctx);
  }
  static krl_status identity(const Sink* sink, krl_str toolchain, krl_str device) {
    of(sink).evaluation_.toolchain = copy(toolchain);
    of(sink).evaluation_.device = copy(device);
    return KRL_OK;
  }
  static krl_status compile_log(const Sink* sink, krl_str chunk) {
    of(sink).evaluation_.compile_log += view(chunk);
    return KRL_OK;
  }
  template <class C, auto list>
  static krl_status push(const Sink* sink, const C* pushed) {
    (of(sink).evaluation_.*list).push_back(from_c(*pushed));
    return KRL_OK;
  }
  static krl_status verdict(const Sink* sink, std::uint32_t verdict, krl_str why) {
    of(sink).evaluation_.verdict = static_cast<Verdict>(verdict);
    of(sink).evaluation_.why = copy(why);
    ++of(sink).verdicts_;
    return KRL_OK;
  }

  Evaluation evaluation_;
  int verdicts_ = 0;
  krl_evaluation_sink sink_;
};

}  // namespace krl::testing
