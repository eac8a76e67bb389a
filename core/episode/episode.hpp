// An episode: one attempt at a task over one or more turns, with everything that was said and
// measured.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <kernelrl/evaluation.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/policy.hpp"
#include "core/task/answer.hpp"
#include "core/task/task.hpp"

namespace krl::core {

// The score of one turn by the reward terms.
struct Score {
  double total = 0;  // Σ weight × term, of the terms that `when` let through
  std::vector<double>
      terms;  // unweighted, in the order of the plan; 0 where `when` did not let the term through
  std::string lost = {};  // why a term could not be had; the rest is then unknown. Empty: all were
};

struct TurnRecord {
  Prompt prompt;
  Answer answer;
  Candidate candidate;
  Evaluation evaluation;
  Score score;          // empty, and never used, after an infrastructure error
  bool reused = false;  // the evaluation came from earlier in this run
  bool lost = false;    // the policy gave no answer
  int dropped = 0;      // answers before this one that were sampled again (rollout.distinct)
  std::int64_t dropped_tokens = 0;  // tokens of these answers

  // True if the infrastructure failed to answer, evaluate or score the turn: the candidate is not
  // at fault, and the turn is never learned from.
  bool infra_error() const { return evaluation.infra_error() || !score.lost.empty(); }
  const std::string& infra_why() const { return score.lost.empty() ? evaluation.why : score.lost; }
};

// The identity of a group in its run; the seeds of its episodes follow from it. A round is what the
// curriculum draws at a time.
struct GroupId {
  int round = 0;          // counts over the run: the iteration that learns from it. 0: none does
  std::size_t index = 0;  // in the round

  auto operator<=>(const GroupId&) const = default;
};

struct Episode {
  const Task* task = nullptr;
  GroupId group;           // its episodes have the same task and are compared with one another
  std::size_t member = 0;  // index in the group
  std::vector<TurnRecord> turns;
  // Turns before its own that were given to it and not sampled: prompts show them and rewards see
  // them; they are neither scored nor learned from.
  std::vector<TurnRecord> given = {};
  // Its one turn is a given kernel with other numbers; no policy wrote it.
  bool tuned = false;
  std::int64_t unplayed = 0;  // turns that it might have had if stop_when had not held
  // The policy cannot answer its next prompt, such as one longer than its context. A first turn is
  // recorded as lost; a later one is left out.
  bool refused = false;
  // The id of the archived kernel that was chosen for it, even if the prompt had no room for it.
  std::string begun_with = {};

  // The highest score of its turns; nothing if it has none that counts.
  std::optional<double> best_score() const {
    std::optional<double> best;
    for (const TurnRecord& turn : turns) {
      if (!turn.infra_error() && (!best || turn.score.total > *best)) best = turn.score.total;
    }
    return best;
  }
};

}  // namespace krl::core
