#include "core/learn/warm_start.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <mutex>
#include <optional>

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
  std::vector<Lesson> lessons(setup.pairs.size());
  std::optional<Error> error;
  std::mutex mutex;
  boost::asio::thread_pool pool(evaluations.info().concurrency);
  for (std::size_t i = 0; i < setup.pairs.size(); ++i) {
    boost::asio::post(pool, [&, i] {
      Result<Lesson> lesson = lesson_of(setup.pairs[i], setup, evaluations);
      const std::lock_guard lock(mutex);
      if (lesson) {
        lessons[i] = std::move(*lesson);
      } else if (!error) {
        error = std::move(lesson).error();
      }
    });
  }
  pool.join();
  if (error) return failure(std::move(*error));
  return lessons;
}

Status fit_policy(const Policy& policy, const StageSetup& setup, const std::vector<Lesson>& lessons,
                  std::uint64_t seed) {
  std::vector<std::string> texts;
  for (const Lesson& lesson : lessons) {
    for (const Message& message : lesson.prompt) texts.push_back(message.text);
    texts.push_back(lesson.answer);
  }
  for (const Task& task : setup.tasks) {
    KRL_ASSIGN(const Prompt prompt, setup.prompts->build(task, {}));
    for (const Message& message : prompt) texts.push_back(message.text);
  }
  return policy.fit(texts, seed);
}

}  // namespace krl
