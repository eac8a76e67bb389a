// Pays for right results: all or nothing, or the share of the cases that passed.
#include <kernelrl/sdk.hpp>

struct Correctness final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_CORRECTNESS;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  std::string mode = "all";
  double wrong = 0;
  static constexpr auto config = krl::config(
      krl::opt("mode", &Correctness::mode, "all: every case must pass; partial: each case counts")
          .one_of("all|partial"),
      krl::opt("wrong", &Correctness::wrong, "score of a kernel without any credit").range(-1, 1));

  // 1 if the kernel passed, else wrong + (1 - wrong) x credit; in wrong..1.
  double score(const krl::Turn& turn) override {
    const krl::Evaluation evaluation = turn.evaluation();
    if (evaluation.passed()) return 1;
    return wrong + (1 - wrong) * credit(evaluation);
  }

 private:
  // Returns a credit below 1: a kernel that failed never scores as much as a correct one. There is
  // none for results that cannot be trusted, even if cases passed: those of a kernel that cheats or
  // that answers differently each time.
  double credit(const krl::Evaluation& evaluation) const {
    const bool untrusted = evaluation.verdict == krl::Verdict::kFlagged ||
                           evaluation.verdict == krl::Verdict::kNondeterministic ||
                           evaluation.verdict == krl::Verdict::kRejected;
    if (mode == "all" || untrusted) return 0;
    const double cases = static_cast<double>(evaluation.cases.size());
    return std::min(evaluation.pass_rate(), cases / (cases + 1));
  }
};

KRL_PLUGIN("correctness", "1.0.0",
           krl::reward<Correctness>("correctness", "Pays for kernels whose results are right"))
