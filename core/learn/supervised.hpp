// A supervised stage: learns from pairs by cross entropy. An iteration is `log_every` optimiser
// steps.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/evaluations.hpp"
#include "core/episode/prompt.hpp"
#include "core/learn/stage_context.hpp"
#include "core/stage/stage_setup.hpp"

namespace krl::core {

// Warm start: supervised pairs with all that their prompts show.
struct Lesson {
  const Pair* pair = nullptr;  // the setup's
  std::string answer;
  std::vector<TurnRecord> earlier;
  RetrievedDocuments found;  // documents that the prompt shows, if any
};

// Every pair of the stage. The earlier answers of a pair are evaluated for real, and documents are
// retrieved, so that its prompt shows what a policy would see. Of a pair of two right kernels the
// faster one is the answer.
Result<std::vector<Lesson>> lessons_of(const StageSetup& setup, const Evaluations& evaluations);

// Prepares a policy that needs a corpus: the texts of the lessons, and of the prompts of the
// stage's tasks.
Status fit_policy(const Policy& policy, const StageSetup& setup, const std::vector<Lesson>& lessons,
                  std::uint64_t seed);

// The lessons are gone when their tokens are known: their documents can be large.
Result<StageEnd> run_supervised(const StageContext& context, std::vector<Lesson> lessons);

}  // namespace krl::core
