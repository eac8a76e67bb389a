#include "core/learn/warm_start.hpp"

namespace krl {
namespace {

Result<Lesson> lesson_of(const Pair& pair, const StageSetup& setup,
                         const Evaluations& evaluations) {
  std::vector<TurnRecord> earlier;
  for (const std::string& text : pair.earlier) {
    TurnRecord turn;
    turn.answer.text = text;
    turn.candidate = extract_candidate(turn.answer);
    KRL_ASSIGN(Evaluated evaluated, evaluations.evaluate(pair.task, turn.candidate, 0));
    if (evaluated.evaluation.infra_error())
      return failure(Code::kUnavailable, evaluated.evaluation.why);
    turn.evaluation = std::move(evaluated.evaluation);
    earlier.push_back(std::move(turn));
  }
  KRL_ASSIGN(Prompt prompt, setup.prompts->build(pair.task, earlier));
  return Lesson{std::move(prompt), pair.answer};
}

}  // namespace

Result<std::vector<Lesson>> lessons_of(const StageSetup& setup, const Evaluations& evaluations) {
  std::vector<Result<Lesson>> results(setup.data.pairs.size());
  evaluations.side_by_side(results.size(), [&](std::size_t i) {
    results[i] = lesson_of(setup.data.pairs[i], setup, evaluations);
  });
  std::vector<Lesson> lessons;
  for (Result<Lesson>& result : results) {
    KRL_ASSIGN(lessons.emplace_back(), std::move(result));
  }
  return lessons;
}

Status fit_policy(const Policy& policy, const StageSetup& setup, const std::vector<Lesson>& lessons,
                  std::uint64_t seed) {
  std::vector<std::string> texts;
  for (const Lesson& lesson : lessons) {
    for (const Message& message : lesson.prompt) texts.push_back(message.text);
    texts.push_back(lesson.answer);
  }
  for (const Task& task : setup.data.tasks) {
    KRL_ASSIGN(const Prompt prompt, setup.prompts->build(task, {}));
    for (const Message& message : prompt) texts.push_back(message.text);
  }
  return policy.fit(texts, seed);
}

}  // namespace krl
