// A backend that checks no more than whether the brackets of a kernel match. It knows one signal.
#include <kernelrl/sdk.hpp>

#include <string>

struct Brackets final : krl::Backend {
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  krl::BackendInfo describe() override {
    krl::BackendInfo info;
    info.concurrency = 4;
    info.signals = KRL_SIGNAL_COMPILE;
    info.toolchain = "brackets 1.0";
    return info;
  }

  void evaluate(const krl::Candidate& candidate, const krl::EvaluateOptions&,
                const krl::EvaluationSink& sink, const krl::Context& context) override {
    sink.identity("brackets 1.0", "none");
    std::string open;
    std::uint32_t line = 1;
    for (const char c : candidate.source()) {
      context.throw_if_cancelled();
      if (c == '\n') ++line;
      if (c == '(' || c == '[' || c == '{') open += closing(c);
      if (c != ')' && c != ']' && c != '}') continue;
      if (open.empty() || open.back() != c)
        return refuse(sink, line, std::string("unexpected ") + c);
      open.pop_back();
    }
    if (!open.empty()) return refuse(sink, line, std::string("missing ") + open.back());
    krl::Case result;  // nothing is measured
    result.label = "brackets";
    sink.add_case(result);
    sink.verdict(krl::Verdict::kOk);
  }

 private:
  static char closing(char c) { return c == '(' ? ')' : c == '[' ? ']' : '}'; }

  static void refuse(const krl::EvaluationSink& sink, std::uint32_t line, const std::string& why) {
    sink.diagnostic({KRL_SEVERITY_ERROR, line, 0, "", why});
    sink.verdict(krl::Verdict::kCompileError, "line " + std::to_string(line) + ": " + why);
  }
};

KRL_PLUGIN("brackets", "1.0.0", krl::backend<Brackets>("example.brackets", "Do brackets match?"))
