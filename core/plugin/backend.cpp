#include "core/plugin/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <kernelrl/growth.hpp>
#include <kernelrl/values.hpp>

#include "core/plugin/views.hpp"

namespace krl::core {
namespace {

// A time, a speedup or an occupancy of 0 cannot be measured: it was not set.
void unset_zeros(std::initializer_list<double*> figures) {
  for (double* figure : figures)
    if (*figure == 0) *figure = kUnknown;
}
void unset_zeros(std::initializer_list<std::int32_t*> figures) {
  for (std::int32_t* figure : figures)
    if (*figure == 0) *figure = -1;
}

Kernel kernel_of(const krl_kernel& pushed) {
  Kernel k = from_c(pushed);
  unset_zeros({&k.max_threads, &k.blocks_per_sm});
  unset_zeros({&k.occupancy});
  // No compiled kernel has 0 registers: if one reports 0, its other zeros were not set either.
  if (k.registers == 0)
    unset_zeros({&k.registers, &k.spill_bytes, &k.stack_bytes, &k.shared_bytes});
  return k;
}

Case case_of(const krl_case& pushed) {
  Case c = from_c(pushed);
  unset_zeros({&c.speedup, &c.speedup_low, &c.speedup_high, &c.time_ns, &c.baseline_ns});
  if (std::isnan(c.speedup_low)) c.speedup_low = c.speedup;
  if (std::isnan(c.speedup_high)) c.speedup_high = c.speedup;
  return c;
}

// Describes an error in a case; empty if there is none.
std::string complaint_about(const Case& c) {
  if (c.kind > CaseKind::kFresh)
    return fmt::format("case '{}' is of a kind that does not exist", c.label);
  const auto is_wrong = [](double value) { return std::isinf(value) || value < 0; };
  for (const double value : {c.speedup, c.speedup_low, c.speedup_high}) {
    if (is_wrong(value)) return fmt::format("case '{}' has a speedup of {}", c.label, value);
  }
  for (const double value : {c.time_ns, c.baseline_ns}) {
    if (is_wrong(value)) return fmt::format("case '{}' has a time of {} ns", c.label, value);
  }
  if (c.speedup_low > c.speedup_high)
    return fmt::format("case '{}' has a speedup in {}..{}", c.label, c.speedup_low, c.speedup_high);
  return {};
}

// Builds an Evaluation from the values that a backend pushes, and checks it against the boundary's
// rules.
class EvaluationReceiver {
 public:
  EvaluationReceiver()
      : sink_{sizeof(krl_evaluation_sink),
              0,
              this,
              identity,
              compile_log,
              diagnostic,
              kernel,
              add_case,
              value,
              verdict} {}

  const krl_evaluation_sink* c() const { return &sink_; }
  Evaluation take() { return std::move(evaluation_); }

  // Explains why a pushed value was refused, which may have failed the call; empty if none was.
  const std::string& refused() const { return complaint_; }
  // Describes an error in the pushed values, or a missing one; empty if there is none.
  std::string complaint() const {
    if (!complaint_.empty()) return complaint_;
    if (verdicts_ != 1) return fmt::format("it gave {} verdicts instead of one", verdicts_);
    const auto cases = static_cast<std::int32_t>(evaluation_.cases.size());
    for (const Value& value : evaluation_.values) {
      if (value.case_index < -1 || value.case_index >= cases)
        return fmt::format("value '{}' is of case {}, of {}", value.name, value.case_index, cases);
    }
    return evaluation_.passed() ? complaint_about_passing() : "";
  }

 private:
  using Sink = krl_evaluation_sink;
  static EvaluationReceiver& of(const Sink* sink) {
    return *static_cast<EvaluationReceiver*>(sink->ctx);
  }

  static krl_status identity(const Sink* sink, krl_str toolchain, krl_str device) {
    EvaluationReceiver& r = of(sink);
    if (!r.may_push("an identity")) return KRL_INVALID_ARGUMENT;
    r.evaluation_.toolchain = copy(toolchain);
    r.evaluation_.device = copy(device);
    return KRL_OK;
  }
  static krl_status compile_log(const Sink* sink, krl_str chunk) {
    EvaluationReceiver& r = of(sink);
    if (!r.may_push("a compile log")) return KRL_INVALID_ARGUMENT;
    r.evaluation_.compile_log += copy(chunk);
    return KRL_OK;
  }
  static krl_status diagnostic(const Sink* sink, const krl_diagnostic* d) {
    EvaluationReceiver& r = of(sink);
    if (!r.may_push("a diagnostic", d)) return KRL_INVALID_ARGUMENT;
    r.evaluation_.diagnostics.push_back(from_c(*d));
    return KRL_OK;
  }
  static krl_status kernel(const Sink* sink, const krl_kernel* k) {
    EvaluationReceiver& r = of(sink);
    if (!r.may_push("a kernel", k)) return KRL_INVALID_ARGUMENT;
    r.evaluation_.kernels.push_back(kernel_of(*k));
    return KRL_OK;
  }
  static krl_status add_case(const Sink* sink, const krl_case* c) {
    EvaluationReceiver& r = of(sink);
    if (!r.may_push("a case", c)) return KRL_INVALID_ARGUMENT;
    r.see(c->verdict);
    r.complain(complaint_about(r.evaluation_.cases.emplace_back(case_of(*c))));
    return KRL_OK;
  }
  static krl_status value(const Sink* sink, const krl_value* v) {
    EvaluationReceiver& r = of(sink);
    if (!r.may_push("a value", v)) return KRL_INVALID_ARGUMENT;
    r.evaluation_.values.push_back(from_c(*v));
    return KRL_OK;
  }
  static krl_status verdict(const Sink* sink, std::uint32_t verdict, krl_str why) {
    EvaluationReceiver& r = of(sink);
    ++r.verdicts_;
    r.see(verdict);
    r.evaluation_.verdict = static_cast<Verdict>(verdict);
    r.evaluation_.why = copy(why);
    return KRL_OK;
  }

  bool may_push(std::string_view what) {
    if (verdicts_ == 0) return true;
    complain(fmt::format("it pushed {} after its verdict", what));
    return false;
  }
  template <class C>
  bool may_push(std::string_view what, const C* pushed) {
    const std::string fault = fault_in(pushed);
    if (fault.empty()) return may_push(what);
    complain(fmt::format("it pushed {} {}", what, fault));
    return false;
  }

  // An infrastructure error is a status, never a verdict.
  void see(std::uint32_t verdict) {
    if (verdict >= KRL_VERDICT_INFRA_ERROR) complain("it gave a verdict that does not exist");
  }

  // The first complaint stays.
  void complain(std::string why) {
    if (complaint_.empty()) complaint_ = std::move(why);
  }

  std::string complaint_about_passing() const {
    for (const Case& c : evaluation_.cases) {
      if (c.verdict != Verdict::kOk)
        return fmt::format("its verdict is ok, and that of case '{}' is {}", c.label,
                           name_of(c.verdict));
    }
    return {};
  }

  Evaluation evaluation_;
  int verdicts_ = 0;
  std::string complaint_;
  krl_evaluation_sink sink_;
};

BackendInfo info_of(const krl_backend_info& info) {
  const std::uint32_t declared = std::max(1u, info.concurrency);
  return {declared,          declared,
          info.signals,      copy(info.toolchain),
          copy(info.device), (info.flags & KRL_BACKEND_REAL_SIZES) != 0};
}

krl_evaluate_options c_options(const EvaluateOptions& o) {
  return {sizeof(krl_evaluate_options), o.stages, o.seed};
}

const krl_backend_v& table_of(const Component& backend) {
  return *static_cast<const krl_backend_v*>(backend.raw->table);
}

constexpr std::chrono::milliseconds kCheckScope{20};

// Waits until the backend takes one more call, for as long as the scope of that call allows.
Status enter_gate(std::counting_semaphore<>& gate, const Component& backend,
                  const CallScope& scope) {
  const auto end = CallScope::Clock::now() + scope.limit;
  while (!gate.try_acquire_for(kCheckScope)) {
    if (scope.cancelled()) return failure(Code::kCancelled, "cancelled");
    if (scope.limit.count() == 0 || CallScope::Clock::now() < end) continue;
    return failure(
        Code::kDeadlineExceeded,
        fmt::format("backend '{}' was busy with other calls for {} s, the limit of a call",
                    backend.id, scope.limit.count()));
  }
  return {};
}

// One of the calls that a backend takes at a time, which has entered the gate.
class Turn {
 public:
  explicit Turn(std::counting_semaphore<>& gate) : gate_(gate) {}
  ~Turn() { gate_.release(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::counting_semaphore<>& gate_;
};

Result<BackendInfo> describe(const Instance& instance) {
  return instance.patiently([&]() -> Result<BackendInfo> {
    SelfDescription<krl_backend_info_sink, krl_backend_info, BackendInfo> description(info_of);
    Call call(instance.component(), instance.scope());
    KRL_TRY(instance.run(call, "describe", [&](void* self, auto* context) {
      return table_of(instance.component()).describe(self, context, description.sink());
    }));
    const std::string why = description.complaint();
    if (!why.empty()) return failure(call.broken("describe", why));
    return description.take();
  });
}

}  // namespace

Backend::Backend(Instance instance, BackendInfo info)
    : instance_(std::move(instance)),
      info_(std::move(info)),
      gate_(std::make_unique<std::counting_semaphore<>>(info_.concurrency)) {}

Result<Backend> Backend::open(Instance instance) {
  KRL_ASSIGN(BackendInfo info, describe(instance));
  info.concurrency = std::min(info.declared, instance.scope().threads);
  return Backend(std::move(instance), std::move(info));
}

template <class Attempt>
auto Backend::patiently(const EvaluateOptions& options, const Attempt& attempt) const {
  const CallScope& scope = options.scope == nullptr ? instance_.scope() : *options.scope;
  return krl::core::patiently(instance_.tries(scope), [&]() -> decltype(attempt(scope)) {
    KRL_TRY(enter_gate(*gate_, component(), scope));
    const Turn turn(*gate_);
    return attempt(scope);
  });
}

Status Backend::check_contract(const Component& backend, Contract contract) {
  if (contract != Contract::kHost || (backend.flags & KRL_TAKES_HOST) != 0) return {};
  return invalid(fmt::format(
      "backend '{}' accepts only kernels of the contract 'device', not kernels with their own host code",
      backend.id));
}

Status Backend::prepare(const Task& task, const EvaluateOptions& options) const {
  const krl_task c_task = view_of(task);
  const krl_evaluate_options o = c_options(options);
  return patiently(options, [&](const CallScope& scope) {
    Call call(component(), scope);
    return instance_.run(call, "prepare", [&](void* self, auto* context) {
      return table_of(component()).prepare(self, context, &c_task, &o);
    });
  });
}

Result<Evaluation> Backend::evaluate(const Task& task, const std::string& source,
                                     const EvaluateOptions& options, double* took_ms) const {
  KRL_TRY(check_contract(component(), options.contract));
  return patiently(options, [&](const CallScope& scope) {
    const auto begin = CallScope::Clock::now();
    auto evaluation = evaluate_once(task, source, options, scope);
    const std::chrono::duration<double, std::milli> took = CallScope::Clock::now() - begin;
    if (took_ms != nullptr) *took_ms = took.count();
    return evaluation;
  });
}

Result<Evaluation> Backend::evaluate_once(const Task& task, const std::string& source,
                                          const EvaluateOptions& options,
                                          const CallScope& scope) const {
  const krl_task c_task = view_of(task);
  const krl_candidate candidate{sizeof(krl_candidate), static_cast<std::uint32_t>(options.contract),
                                &c_task, to_c(source)};
  const krl_evaluate_options o = c_options(options);
  EvaluationReceiver receiver;
  Call call(component(), scope);
  const Status status = instance_.run(call, "evaluate", [&](void* self, auto* context) {
    return table_of(component()).evaluate(self, context, &candidate, &o, receiver.c());
  });
  if (!receiver.refused().empty()) return failure(call.broken("evaluate", receiver.refused()));
  KRL_TRY(status);
  if (const std::string why = receiver.complaint(); !why.empty())
    return failure(call.broken("evaluate", why));
  Evaluation evaluation = receiver.take();
  evaluation.backend = component().id;
  evaluation.contract = options.contract;
  return evaluation;
}

}  // namespace krl::core
