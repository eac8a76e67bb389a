#include "service/mutation/mutant_judge.hpp"

#include <kernelrl/proof_stage.h>

#include <array>

namespace krl::service {
namespace {

constexpr std::array<std::string_view, kFates> kNames = {"invalid",  "refused", "refused_by_pool",
                                                         "survived", "close",   "beyond",
                                                         "lucky",    "same",    "unproved"};

constexpr std::uint32_t kPool =
    KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT | KRL_STAGE_POOL;
constexpr std::uint32_t kCode = KRL_STAGE_COMPILE | KRL_STAGE_PROOF;

bool is_program(Verdict verdict) {
  return verdict != Verdict::kRejected && verdict != Verdict::kCompileError &&
         verdict != Verdict::kLaunchError && verdict != Verdict::kFormatError;
}

}  // namespace

std::string_view name_of(Fate fate) { return kNames[static_cast<std::size_t>(fate)]; }

Result<Evaluation> MutantJudge::evaluate(const Original& original, const std::string& source,
                                         std::uint32_t stages) const {
  EvaluateOptions options = options_;
  options.stages = stages | (original.has_ptx ? KRL_CANDIDATE_HAS_PTX : 0);
  return judge_.evaluate(*original.task, source, options);
}

Status MutantJudge::check(const Original& original) const {
  KRL_ASSIGN(const Evaluation right, evaluate(original, original.source, options_.stages));
  return right.passed() ? Status() : invalid(right.why);
}

Result<Proof> MutantJudge::prove(const Original& original) const {
  KRL_ASSIGN(const Evaluation code, evaluate(original, original.source, kCode));
  Proof proof{code.value("code_digest"), {}};
  if (!proof.code) return proof;
  KRL_ASSIGN(const Evaluation right, evaluate(original, original.source, kPool));
  if (!right.passed()) return invalid(right.why);
  KRL_ASSIGN(const Evaluation proved, evaluate(original, original.source, kPool | KRL_STAGE_PROOF));
  if (!proved.passed()) return invalid("on the inputs of the proof: " + proved.why);
  proof.outputs = proved.value("output_digest");
  return proof;
}

Result<Original> MutantJudge::with_ptx(const Original& original) const {
  KRL_ASSIGN(const Evaluation code, evaluate(original, original.source, kCode));
  if (!code.value("code_digest"))
    return invalid("the backend does not tell what it compiled " + original.name + " to");
  Original result = original;
  result.source += KRL_PTX_MARK + code.compile_log;
  result.has_ptx = true;
  return result;
}

Result<Fated> MutantJudge::judge(const Mutant& mutant, const Original& original,
                                 const std::function<Proof()>& proof) const {
  const std::string source = changed(original.source, mutant.change);
  KRL_ASSIGN(const Evaluation ordinary, evaluate(original, source, options_.stages));
  if (!is_program(ordinary.verdict)) return Fated{Fate::kInvalid, ordinary.verdict, ordinary.why};
  if (!ordinary.passed()) return Fated{Fate::kRefused, ordinary.verdict, ordinary.why};
  const Proof right = proof();
  if (right.code) {
    KRL_ASSIGN(const Evaluation code, evaluate(original, source, kCode));
    if (code.value("code_digest") == right.code)
      return Fated{Fate::kSame, Verdict::kOk, "equal code"};
  }
  KRL_ASSIGN(const Evaluation pool, evaluate(original, source, kPool));
  if (!pool.passed()) return Fated{Fate::kRefusedByPool, pool.verdict, pool.why};
  return compare(mutant, original, source, right);
}

Result<Fated> MutantJudge::compare(const Mutant& mutant, const Original& original,
                                   const std::string& source, const Proof& proof) const {
  if (!proof.outputs) return Fated{Fate::kUnproved, Verdict::kOk, ""};
  KRL_ASSIGN(const Evaluation proved, evaluate(original, source, kPool | KRL_STAGE_PROOF));
  if (!proved.passed()) return Fated{Fate::kSurvived, proved.verdict, proved.why};
  if (needs_size(mutant.change.kind)) return Fated{Fate::kBeyond, Verdict::kOk, ""};
  if (proved.value("output_digest") != proof.outputs) return Fated{Fate::kClose, Verdict::kOk, ""};
  if (is_undefined(mutant.change.kind)) return Fated{Fate::kLucky, Verdict::kOk, "equal bits"};
  return Fated{Fate::kSame, Verdict::kOk, "equal bits"};
}

}  // namespace krl::service
