// Refuses kernels whose brackets do not match: replace it with a compiler and a machine that runs the kernels.
#include <kernelrl/sdk.hpp>

#include <string>

struct NewComponent final : krl::Backend {
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  krl::BackendInfo describe() override {
    krl::BackendInfo info;
    info.concurrency = 4;
    info.signals = KRL_SIGNAL_COMPILE;
    info.toolchain = "new_component 0.1";
    return info;
  }

  void evaluate(const krl::Candidate& candidate, const krl::EvaluateOptions&,
                const krl::EvaluationSink& sink, const krl::Context& context) override {
    int open = 0;
    for (const char c : candidate.source()) {
      context.throw_if_cancelled();
      if (c == '{') ++open;
      if (c == '}') --open;
      if (open < 0) break;
    }
    if (open != 0) return sink.verdict(krl::Verdict::kCompileError, "the brackets do not match");
    krl::Case result;  // nothing is measured
    result.label = "brackets";
    sink.add_case(result);
    sink.verdict(krl::Verdict::kOk);
  }
};

KRL_PLUGIN("new_component", "0.1.0",
           krl::backend<NewComponent>("new_vendor.new_component", "Matches brackets"))
