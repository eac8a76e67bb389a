// Determines the fates of mutants under a judge. A mutant that an ordinary evaluation accepts is
// evaluated with the hold-outs and the whole pool of shapes, and then compared with the kernel it
// was made from on many more inputs. This distinguishes mutants that compute the same from those
// that the judge is blind to. Thread-safe; calls block.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/episode/judge.hpp"
#include "service/mutation/mutants.hpp"

namespace krl::service {
using namespace core;

enum class Fate {
  kInvalid,        // no program: rejected, not compiled or not launched
  kRefused,        // refused by an ordinary evaluation
  kRefusedByPool,  // refused by hold-outs and the whole pool, not by an ordinary evaluation
  kSurvived,       // right in both, and wrong on other inputs
  kClose,          // right on all inputs that were tried, though not to the last bit
  kBeyond,         // equal on them, but the change needs larger sizes to show
  kLucky,          // equal bits on them, though an initial value or an order was dropped
  kSame,           // equal code, or equal bits on all inputs
  kUnproved,       // accepted, and there is nothing to compare it with
};
inline constexpr std::size_t kFates = 9;
std::string_view name_of(Fate fate);  // "refused_by_pool"

struct Fated {
  Fate fate = Fate::kInvalid;
  Verdict verdict = Verdict::kOk;  // verdict of the evaluation that decided
  std::string why;
};

// The identity of a right kernel and of its outputs, as values of its evaluation; none if a backend
// does not report them.
struct Proof {
  std::optional<double> code, outputs;
};

class MutantJudge {
 public:
  explicit MutantJudge(const Judge& judge, std::uint64_t seed) : judge_(judge) {
    options_.seed = seed;
  }

  // An error: the original is not right by an ordinary evaluation, or an infrastructure error.
  Status check(const Original& original) const;
  // The same with the whole pool and the inputs of the proof, which takes longer; empty where the
  // backend cannot compare.
  Result<Proof> prove(const Original& original) const;
  // The original with its compiled code, to which changes are made then.
  Result<Original> with_ptx(const Original& original) const;

  // `proof`: returns the original's, if it is needed; an empty one if there is none. An error is an
  // infrastructure error.
  Result<Fated> judge(const Mutant& mutant, const Original& original,
                      const std::function<Proof()>& proof) const;

 private:
  Result<Evaluation> evaluate(const Original& original, const std::string& source,
                              std::uint32_t stages) const;
  Result<Fated> compare(const Mutant& mutant, const Original& original, const std::string& source,
                        const Proof& proof) const;

  const Judge& judge_;
  EvaluateOptions options_;
};

}  // namespace krl::service
