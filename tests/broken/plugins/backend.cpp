// Judges the answers of the broken world, and what can be wrong with a backend.
#include <kernelrl/backend.hpp>

#include <limits>
#include <thread>

#include "tests/broken/plugins/answers.hpp"
#include "tests/broken/plugins/trouble.hpp"

namespace broken {
namespace {

constexpr char kDescribe[] = "describe";
constexpr char kPrepare[] = "prepare";
constexpr char kEvaluate[] = "evaluate";

krl::Case good_case() {
  krl::Case c;
  c.label = "n=1";
  c.speedup = c.speedup_low = c.speedup_high = 2;
  return c;
}

// Pushes what no krl::Case can be.
void push_raw(krl_case c, const krl::EvaluationSink& sink) {
  c.struct_size = sizeof c;
  krl::check(sink.c()->add_case(sink.c(), &c));
}

struct Backend final : krl::Backend, Trouble {
  using Base = krl::Backend;
  static constexpr auto config = options("evaluate|prepare|describe|create|destroy");
  Backend() { at = kEvaluate; }

  krl::BackendInfo describe() override {
    krl::BackendInfo info{1, KRL_SIGNAL_COMPILE | KRL_SIGNAL_CORRECTNESS | KRL_SIGNAL_TIME,
                          "broken", "none"};
    if (is("no signals")) info.signals = 0;
    if (is("unknown signals")) info.signals |= 1U << 31U;
    if (is("100000 threads")) info.concurrency = 100'000;
    if (is("no threads")) info.concurrency = 0;
    if (is("not UTF-8")) info.device = "\xff\xfe";
    return info;
  }

  void prepare(const krl::Task&, const krl::EvaluateOptions&, const krl::Context&) override {}

  void evaluate(const krl::Candidate& candidate, const krl::EvaluateOptions&,
                const krl::EvaluationSink& sink, const krl::Context&) override {
    if (is("no verdict")) return sink.identity("broken", "none");
    const bool right = is_right(candidate.source());
    krl::Case c = good_case();
    if (!right) {
      c.verdict = krl::Verdict::kWrongResult;
      c.speedup = c.speedup_low = c.speedup_high = krl::kUnknown;
    }
    push_cases(c, sink);
    push_kernel(sink);
    give_verdict(right, sink);
    if (is("two verdicts")) sink.verdict(krl::Verdict::kOk, "");
    if (is("case after the verdict")) sink.add_case(c);
  }

 private:
  void push_cases(krl::Case c, const krl::EvaluationSink& sink) const {
    if (is("no case")) return;
    if (is("zeroed case")) return push_raw({}, sink);
    if (is("wrong case")) c.verdict = krl::Verdict::kWrongResult;
    if (is("case of no verdict")) c.verdict = static_cast<krl::Verdict>(99);
    if (is("negative speedup")) c.speedup = c.speedup_low = c.speedup_high = -2;
    if (is("infinite speedup"))
      c.speedup = c.speedup_low = c.speedup_high = std::numeric_limits<double>::infinity();
    if (is("null text")) {
      krl_case raw = krl::to_c(c);
      raw.detail = {nullptr, 5};
      return push_raw(raw, sink);
    }
    for (int i = 0; i < (is("20000 cases") ? 20'000 : 1); ++i) sink.add_case(c);
  }

  void push_kernel(const krl::EvaluationSink& sink) const {
    if (is("zeroed kernel")) {
      krl_kernel zeroed{};
      zeroed.struct_size = sizeof zeroed;
      krl::check(sink.c()->kernel(sink.c(), &zeroed));
    }
    if (is("nan value")) sink.value({-1, "dram_bytes", "B", krl::kUnknown});
    if (is("value of no case")) sink.value({99, "dram_bytes", "B", 1});
  }

  void give_verdict(bool right, const krl::EvaluationSink& sink) const {
    krl::Verdict verdict = right ? krl::Verdict::kOk : krl::Verdict::kWrongResult;
    std::string why = right ? "" : "y[0] is 1, expected 2";
    if (is("wrong case")) verdict = krl::Verdict::kOk;
    if (is("verdict 99")) verdict = static_cast<krl::Verdict>(99);
    if (is("infra verdict")) verdict = krl::Verdict::kInfraError;
    if (is("long why")) why = std::string(50 * kMegabyte, 'w');
    if (is("bad why")) why = "bytes \xff\xfe\x1b[31m";
    if (is("another thread")) {
      std::thread([&] { sink.verdict(verdict, why); }).join();
    } else {
      sink.verdict(verdict, why);
    }
  }
};

// The sizes of what is pushed are the SDK's to set: this is pushed without it.
krl_status evaluate_raw(void* self, const krl_call* context, const krl_candidate* candidate,
                        const krl_evaluate_options* options,
                        const krl_evaluation_sink* sink) noexcept {
  const auto& backend = *static_cast<Backend*>(static_cast<krl::Backend*>(self));
  if (backend.is("null case")) sink->add_case(sink, nullptr);
  if (backend.is("case size")) {
    const krl_case c{8, 0, {}, 0, 0, 0, 0, 0, 0, 0, 0, 0, {}, {}, {}};
    sink->add_case(sink, &c);
  }
  return krl::detail::evaluate(self, context, candidate, options, sink);
}

constexpr krl_backend_v kTable{sizeof(krl_backend_v), KRL_BACKEND,
                               Troubled<Backend, kDescribe, krl::detail::describe_backend>::call,
                               Troubled<Backend, kPrepare, krl::detail::prepare>::call,
                               Troubled<Backend, kEvaluate, evaluate_raw>::call};

const krl_component* component() {
  static const krl_component c =
      troubled<Backend>(krl::backend<Backend>("broken.backend", "Judges answers"), &kTable);
  return &c;
}

}  // namespace
}  // namespace broken

KRL_PLUGIN("broken_backend", "1.0.0", broken::component())
