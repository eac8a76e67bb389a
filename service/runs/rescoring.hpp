// The scores that the rewards of a plan give: to one kernel, or to all answers that a run kept, so
// that a reward can be tried before a run is paid by it. Calls block.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/episode/judge.hpp"
#include "core/episode/score.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/components.hpp"
#include "core/run/run_directory.hpp"

namespace krl::service {
using namespace core;

struct ScoredTurn {
  std::string task;
  Verdict verdict = Verdict::kOk;
  std::string why;  // the reason of the verdict
  Score score;
  double recorded = 0;                           // its score in the run, and those of its terms
  std::map<std::string, double> recorded_terms;  // unweighted, by name
};

class Rescoring {
 public:
  // Opens the backend and the rewards of `settings`; both outlive the object.
  static Result<Rescoring> open(const Settings& settings, std::uint64_t run_seed,
                                Components& components);

  const std::vector<RewardTerm>& terms() const { return scorer_.terms(); }

  // Judges the kernel, and scores it as the answer of a first turn in the exact form.
  Result<ScoredTurn> score(const Task& task, const std::string& source) const;

  // Scores every answer in samples/, in order, with the evaluations of the run's ledger; kernels
  // that are not there are judged. What samples do not hold is absent: of tokens only the number is
  // known. Answers to tasks that are not in `tasks`, and those that the run could not judge, are left
  // out. The run is only read, and may be active.
  Status score(const RunLayout& run, const std::vector<Task>& tasks,
               const std::function<void(const ScoredTurn&)>& use) const;

 private:
  Rescoring(const Settings& settings, std::uint64_t run_seed, JudgeBackends backends, Scorer scorer)
      : settings_(&settings),
        run_seed_(run_seed),
        backends_(std::move(backends)),
        scorer_(std::move(scorer)) {}

  const Settings* settings_;
  std::uint64_t run_seed_;
  JudgeBackends backends_;
  Scorer scorer_;
};

}  // namespace krl::service
