// An evaluator backend: turns a candidate kernel into an evaluation.
#pragma once

#include <kernelrl/component.hpp>
#include <kernelrl/evaluation.hpp>
#include <kernelrl/views.hpp>

namespace krl {

class Candidate {
 public:
  explicit Candidate(const krl_candidate* c) : c_(c) {}
  Task task() const { return Task(c_->task); }
  std::string_view source() const { return view(c_->source); }
  bool host_contract() const { return c_->contract == KRL_CONTRACT_HOST; }
  const krl_candidate* c() const { return c_; }

 private:
  const krl_candidate* c_;
};

struct EvaluateOptions {
  std::uint32_t stages = 0;  // KRL_STAGE_*
  std::uint64_t seed = 0;
  bool wants(std::uint32_t stage) const { return (stages & stage) != 0; }
};

// Receives an evaluation piece by piece; `verdict` comes last, exactly once.
class EvaluationSink {
 public:
  explicit EvaluationSink(const krl_evaluation_sink* c) : c_(c) {}
  void identity(std::string_view toolchain, std::string_view device) const {
    check(c_->identity(c_, to_c(toolchain), to_c(device)));
  }
  void compile_log(std::string_view chunk) const { check(c_->compile_log(c_, to_c(chunk))); }
  void diagnostic(const Diagnostic& diagnostic) const {
    const krl_diagnostic c = to_c(diagnostic);
    check(c_->diagnostic(c_, &c));
  }
  void kernel(const Kernel& kernel) const {
    const krl_kernel c = to_c(kernel);
    check(c_->kernel(c_, &c));
  }
  void add_case(const Case& result) const {
    const krl_case c = to_c(result);
    check(c_->add_case(c_, &c));
  }
  void value(const Value& value) const {
    const krl_value c = to_c(value);
    check(c_->value(c_, &c));
  }
  void verdict(Verdict verdict, std::string_view why = {}) const {
    check(c_->verdict(c_, static_cast<std::uint32_t>(verdict), to_c(why)));
  }
  // All of an evaluation but its backend and contract, which the host knows.
  void push(const Evaluation& e) const {
    identity(e.toolchain, e.device);
    if (!e.compile_log.empty()) compile_log(e.compile_log);
    for (const Diagnostic& d : e.diagnostics) diagnostic(d);
    for (const Kernel& k : e.kernels) kernel(k);
    for (const Case& c : e.cases) add_case(c);
    for (const Value& v : e.values) value(v);
    verdict(e.verdict, e.why);
  }
  const krl_evaluation_sink* c() const { return c_; }

 private:
  const krl_evaluation_sink* c_;
};

struct BackendInfo {
  std::uint32_t concurrency = 1;
  std::uint32_t signals = 0;  // KRL_SIGNAL_*
  std::string toolchain, device;
  std::uint32_t flags = 0;  // KRL_BACKEND_*
};

// Derive and override. A backend whose evaluations may overlap declares
// `static constexpr std::uint32_t flags = KRL_THREAD_SAFE;`.
struct Backend : Component {
  virtual BackendInfo describe() = 0;
  // Throws Failure(KRL_INVALID_ARGUMENT, "file:line:column: …") if the task itself is wrong.
  virtual void prepare(const Task&, const EvaluateOptions&, const Context&) {}
  // A wrong candidate gets a verdict; errors of the backend itself are thrown as
  // Failure(KRL_UNAVAILABLE, …).
  virtual void evaluate(const Candidate&, const EvaluateOptions&, const EvaluationSink&,
                        const Context&) = 0;
};

namespace detail {

inline EvaluateOptions options_of(const krl_evaluate_options* o) { return {o->stages, o->seed}; }

inline krl_status describe_backend(void* self, const krl_call* context,
                                   const krl_backend_info_sink* sink) noexcept {
  return guard(context, [&] {
    const BackendInfo info = static_cast<Backend*>(self)->describe();
    const krl_backend_info c{sizeof(krl_backend_info), info.flags,
                             info.concurrency,         info.signals,
                             to_c(info.toolchain),     to_c(info.device)};
    check(sink->info(sink, &c));
  });
}
inline krl_status prepare(void* self, const krl_call* context, const krl_task* task,
                          const krl_evaluate_options* options) noexcept {
  return guard(context, [&] {
    static_cast<Backend*>(self)->prepare(Task(task), options_of(options), Context(context));
  });
}
inline krl_status evaluate(void* self, const krl_call* context, const krl_candidate* candidate,
                           const krl_evaluate_options* options,
                           const krl_evaluation_sink* sink) noexcept {
  return guard(context, [&] {
    static_cast<Backend*>(self)->evaluate(Candidate(candidate), options_of(options),
                                          EvaluationSink(sink), Context(context));
  });
}

}  // namespace detail

template <class T>
const krl_component* backend(const char* id, const char* summary) {
  static const krl_backend_v table{sizeof(krl_backend_v), KRL_BACKEND, detail::describe_backend,
                                   detail::prepare, detail::evaluate};
  return detail::component<T, Backend>(KRL_BACKEND, &table, id, summary);
}

}  // namespace krl
