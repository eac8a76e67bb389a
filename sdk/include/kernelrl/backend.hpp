// An evaluator backend: turns a candidate kernel into an evaluation.
#pragma once

#include <kernelrl/component.hpp>
#include <kernelrl/views.hpp>

namespace krl {

class Candidate {
 public:
  explicit Candidate(const krl_candidate* c) : c_(c) {}
  Task task() const { return Task(c_->task); }
  std::string_view source() const { return view(c_->source); }
  bool host_contract() const { return c_->contract == KRL_CONTRACT_HOST; }

 private:
  const krl_candidate* c_;
};

struct EvaluateOptions {
  std::uint32_t stages = 0;  // KRL_STAGE_*
  std::uint64_t seed = 0;
  bool wants(std::uint32_t stage) const { return (stages & stage) != 0; }
};

// One shape's result and one compiled kernel, of which nothing was measured yet: fill in what was.
// What a zero-initialised krl_case or krl_kernel would claim, such as 0 registers, is not known
// here. The texts outlive the value.
inline krl_case case_result(std::string_view label, std::uint32_t verdict = KRL_VERDICT_OK) {
  krl_case c{};
  c.struct_size = sizeof c;
  c.label = to_c(label);
  c.verdict = verdict;
  c.max_abs_error = c.max_rel_error = kUnknown;
  c.speedup = c.speedup_low = c.speedup_high = kUnknown;
  c.time_ns = c.baseline_ns = kUnknown;
  return c;
}
inline krl_kernel kernel_result(std::string_view name) {
  krl_kernel k{};
  k.struct_size = sizeof k;
  k.name = to_c(name);
  k.registers = k.spill_bytes = k.stack_bytes = k.shared_bytes = -1;
  k.max_threads = k.blocks_per_sm = -1;
  k.occupancy = kUnknown;
  return k;
}

// Where an evaluation is written to, piece by piece; `verdict` is the last, exactly once.
class EvaluationSink {
 public:
  explicit EvaluationSink(const krl_evaluation_sink* c) : c_(c) {}
  void identity(std::string_view toolchain, std::string_view device) const {
    check(c_->identity(c_, to_c(toolchain), to_c(device)));
  }
  void compile_log(std::string_view chunk) const { check(c_->compile_log(c_, to_c(chunk))); }
  void diagnostic(krl_diagnostic d) const {
    d.struct_size = sizeof d;
    check(c_->diagnostic(c_, &d));
  }
  void kernel(krl_kernel k) const {
    k.struct_size = sizeof k;
    check(c_->kernel(c_, &k));
  }
  void add_case(krl_case c) const {
    c.struct_size = sizeof c;
    check(c_->add_case(c_, &c));
  }
  // `case_index` -1: of the whole evaluation.
  void value(std::string_view name, double number, std::string_view unit = {},
             std::int32_t case_index = -1) const {
    const krl_value v{sizeof(krl_value), case_index, to_c(name), to_c(unit), number};
    check(c_->value(c_, &v));
  }
  void artifact(std::string_view name, std::string_view bytes) const {
    check(c_->artifact(c_, to_c(name), to_c(bytes)));
  }
  void verdict(std::uint32_t verdict, std::string_view why = {}) const {
    check(c_->verdict(c_, verdict, to_c(why)));
  }

 private:
  const krl_evaluation_sink* c_;
};

struct BackendInfo {
  std::uint32_t concurrency = 1;
  std::uint32_t signals = 0;  // KRL_SIGNAL_*
  std::string toolchain, device;
  std::uint32_t flags = 0;  // KRL_BACKEND_*
};

// Derive and override. A backend whose evaluations may overlap declares `static constexpr
// std::uint32_t flags = KRL_THREAD_SAFE`.
struct Backend : Component {
  virtual BackendInfo describe() = 0;
  // Throws Failure(KRL_INVALID_ARGUMENT, "file:line:column: …") if the task itself is wrong.
  virtual void prepare(const Task&, const EvaluateOptions&, const Context&) {}
  // A wrong candidate ends in a verdict; own trouble is thrown as Failure(KRL_UNAVAILABLE, …).
  virtual void evaluate(const Candidate&, const EvaluateOptions&, const EvaluationSink&,
                        const Context&) = 0;

  BackendInfo last_info;  // what describe() gave; the host reads its texts after the call
};

namespace detail {

inline EvaluateOptions options_of(const krl_evaluate_options* o) { return {o->stages, o->seed}; }

inline krl_status describe_backend(void* self, const krl_task_context* context,
                                   krl_backend_info* out) noexcept {
  return guard(context, [&] {
    auto* backend = static_cast<Backend*>(self);
    backend->last_info = backend->describe();
    const BackendInfo& info = backend->last_info;
    *out = {sizeof(krl_backend_info), info.flags,       info.concurrency, info.signals,
            to_c(info.toolchain),     to_c(info.device)};
  });
}
inline krl_status prepare(void* self, const krl_task_context* context, const krl_task* task,
                          const krl_evaluate_options* options) noexcept {
  return guard(context, [&] {
    static_cast<Backend*>(self)->prepare(Task(task), options_of(options), Context(context));
  });
}
inline krl_status evaluate(void* self, const krl_task_context* context,
                           const krl_candidate* candidate, const krl_evaluate_options* options,
                           const krl_evaluation_sink* sink) noexcept {
  return guard(context, [&] {
    static_cast<Backend*>(self)->evaluate(Candidate(candidate), options_of(options),
                                          EvaluationSink(sink), Context(context));
  });
}

}  // namespace detail

template <class T>
const krl_component* backend(const char* id, const char* summary) {
  static const krl_backend_v table{sizeof(krl_backend_v), 0, detail::describe_backend,
                                   detail::prepare, detail::evaluate};
  return detail::component<T, Backend>(KRL_BACKEND, &table, id, summary);
}

}  // namespace krl
