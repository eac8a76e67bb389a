#include "core/plugin/backend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/plugin/text.hpp"
#include "core/plugin/views.hpp"

namespace krl {
namespace {

// Builds an Evaluation from what a backend pushes.
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
              artifact,
              verdict} {}

  const krl_evaluation_sink* c() const { return &sink_; }
  int verdicts() const { return verdicts_; }
  bool unknown_verdict() const { return unknown_verdict_; }
  Evaluation take() { return std::move(evaluation_); }

 private:
  using Sink = krl_evaluation_sink;
  static EvaluationReceiver& of(const Sink* sink) {
    return *static_cast<EvaluationReceiver*>(sink->ctx);
  }
  static Evaluation& evaluation(const Sink* sink) { return of(sink).evaluation_; }

  static krl_status identity(const Sink* sink, krl_str toolchain, krl_str device) {
    evaluation(sink).toolchain = copy(toolchain);
    evaluation(sink).device = copy(device);
    return KRL_OK;
  }
  static krl_status compile_log(const Sink* sink, krl_str chunk) {
    evaluation(sink).compile_log += copy(chunk);
    return KRL_OK;
  }
  static krl_status diagnostic(const Sink* sink, const krl_diagnostic* d) {
    evaluation(sink).diagnostics.push_back(
        {d->severity, d->line, d->column, copy(d->code), copy(d->text)});
    return KRL_OK;
  }
  static krl_status kernel(const Sink* sink, const krl_kernel* k) {
    evaluation(sink).kernels.push_back(
        {copy(k->name), copy(k->arch), copy(k->occupancy_limiter), k->registers, k->spill_bytes,
         k->stack_bytes, k->shared_bytes, k->max_threads, k->blocks_per_sm, k->occupancy});
    return KRL_OK;
  }
  static krl_status add_case(const Sink* sink, const krl_case* c) {
    of(sink).see(c->verdict);
    evaluation(sink).cases.push_back(
        {copy(c->label),
         static_cast<Verdict>(c->verdict),
         c->holdout != 0,
         c->estimated != 0,
         c->max_abs_error,
         c->max_rel_error,
         c->speedup,
         c->speedup_low,
         c->speedup_high,
         c->time_ns,
         c->baseline_ns,
         {c->samples_ns.data, c->samples_ns.data + c->samples_ns.size},
         {c->baseline_samples_ns.data, c->baseline_samples_ns.data + c->baseline_samples_ns.size},
         copy(c->detail)});
    return KRL_OK;
  }
  static krl_status value(const Sink* sink, const krl_value* v) {
    evaluation(sink).values.push_back({v->case_index, copy(v->name), copy(v->unit), v->value});
    return KRL_OK;
  }
  static krl_status artifact(const Sink*, krl_str, krl_str) { return KRL_OK; }
  static krl_status verdict(const Sink* sink, std::uint32_t verdict, krl_str why) {
    ++of(sink).verdicts_;
    of(sink).see(verdict);
    evaluation(sink).verdict = static_cast<Verdict>(verdict);
    evaluation(sink).why = copy(why);
    return KRL_OK;
  }

  // What the machinery does wrong is a status, never a verdict.
  void see(std::uint32_t verdict) { unknown_verdict_ |= verdict >= KRL_VERDICT_INFRA_ERROR; }

  Evaluation evaluation_;
  int verdicts_ = 0;
  bool unknown_verdict_ = false;
  krl_evaluation_sink sink_;
};

krl_evaluate_options c_options(const EvaluateOptions& o) {
  return {sizeof(krl_evaluate_options), o.stages, o.seed};
}

}  // namespace

Result<BackendInfo> Backend::describe() const {
  return instance_.patiently([&]() -> Result<BackendInfo> {
    krl_backend_info info{};
    info.struct_size = sizeof info;
    Call call(component(), instance_.scope());
    KRL_TRY(instance_.run(call, "describe", [&](void* self, auto* context) {
      return table().describe(self, context, &info);
    }));
    return BackendInfo{std::max(1u, info.concurrency), info.signals, copy(info.toolchain),
                       copy(info.device)};
  });
}

Status Backend::check_contract(const Component& backend, Contract contract) {
  if (contract != Contract::kHost || (backend.flags & KRL_TAKES_HOST) != 0) return {};
  return invalid(
      fmt::format("backend '{}' takes kernels of the contract 'device' only, none with host code "
                  "of their own",
                  backend.id));
}

Status Backend::prepare(const Task& task, const EvaluateOptions& options) const {
  const krl_task c_task = view_of(task);
  const krl_evaluate_options o = c_options(options);
  return instance_.patiently([&] {
    Call call(component(), instance_.scope());
    return instance_.run(call, "prepare", [&](void* self, auto* context) {
      return table().prepare(self, context, &c_task, &o);
    });
  });
}

Result<Evaluation> Backend::evaluate(const Task& task, const std::string& source,
                                     const EvaluateOptions& options) const {
  KRL_TRY(check_contract(component(), options.contract));
  return instance_.patiently([&] { return evaluate_once(task, source, options); });
}

Result<Evaluation> Backend::evaluate_once(const Task& task, const std::string& source,
                                          const EvaluateOptions& options) const {
  const krl_task c_task = view_of(task);
  const krl_candidate candidate{sizeof(krl_candidate), static_cast<std::uint32_t>(options.contract),
                                &c_task, borrow(source)};
  const krl_evaluate_options o = c_options(options);
  EvaluationReceiver receiver;
  Call call(component(), instance_.scope());
  KRL_TRY(instance_.run(call, "evaluate", [&](void* self, auto* context) {
    return table().evaluate(self, context, &candidate, &o, receiver.c());
  }));
  if (receiver.verdicts() != 1) {
    return failure(call.broken(
        "evaluate", fmt::format("it gave {} verdicts instead of one", receiver.verdicts())));
  }
  if (receiver.unknown_verdict())
    return failure(call.broken("evaluate", "it gave a verdict that does not exist"));
  Evaluation evaluation = receiver.take();
  evaluation.backend = component().id;
  evaluation.contract = options.contract;
  return evaluation;
}

}  // namespace krl
