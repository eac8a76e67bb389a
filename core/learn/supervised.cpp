#include "core/learn/supervised.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/hash.hpp"
#include "core/learn/optimizer_step.hpp"
#include "core/learn/step_figures.hpp"
#include "core/learn/training_set.hpp"
#include "core/measure/discovery.hpp"
#include "core/plan/source.hpp"

namespace krl::core {
namespace {

Result<TurnRecord> turn_of(const Task& task, const std::string& answer,
                           const Evaluations& evaluations) {
  TurnRecord turn;
  turn.answer.text = answer;
  turn.candidate = extract_candidate(turn.answer);
  KRL_ASSIGN(Evaluated evaluated, evaluations.evaluate(task, turn.candidate, 0));
  if (evaluated.evaluation.infra_error())
    return failure(Code::kUnavailable, evaluated.evaluation.why);
  turn.evaluation = std::move(evaluated.evaluation);
  return turn;
}

// Where the last earlier kernel is right too, the faster of the two becomes the answer, so that the
// pair teaches improvement; if none is faster, the answer is one without earlier turns.
Status put_in_order(Lesson& lesson, const Evaluations& evaluations) {
  if (lesson.earlier.empty() || !lesson.earlier.back().evaluation.passed()) return {};
  KRL_ASSIGN(TurnRecord answer, turn_of(lesson.pair->task, lesson.answer, evaluations));
  TurnRecord& earlier = lesson.earlier.back();
  const double factor = answer.evaluation.speedup() / earlier.evaluation.speedup();
  if (!answer.evaluation.passed() || !std::isfinite(factor)) return {};
  if (factor < 1 / kRecordFactor) {
    lesson.answer = earlier.answer.text;
    earlier = std::move(answer);
  } else if (factor < kRecordFactor) {
    lesson.earlier.clear();
  }
  return {};
}

Result<Lesson> lesson_of(const Pair& pair, const StageSetup& setup,
                         const Evaluations& evaluations) {
  Lesson lesson{&pair, pair.answer, {}, {}};
  for (const std::string& text : pair.earlier) {
    KRL_ASSIGN(lesson.earlier.emplace_back(), turn_of(pair.task, text, evaluations));
  }
  KRL_TRY(put_in_order(lesson, evaluations));
  if (setup.retrieval != nullptr && setup.retrieval->shows(lesson.earlier)) {
    std::vector<std::string> answers = pair.earlier;
    answers.push_back(pair.answer);
    KRL_ASSIGN(lesson.found, setup.retrieval->find(pair.task, answers));
  }
  return lesson;
}

constexpr std::size_t kBatchesSortedTogether = 8;  // similar lengths in a batch save padding

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t steps_per_epoch(const SftSettings& s, std::size_t lessons) {
  return ceil_div(static_cast<std::int64_t>(lessons), s.batch_size);
}

std::size_t length_of(const Example& e) { return e.prompt_tokens.size() + e.tokens.size(); }

// The batches of one epoch: shuffled, then sorted by length within windows of a few batches, then
// the batches of each window shuffled again.
std::vector<std::vector<std::size_t>> batches_of(const std::vector<Example>& examples,
                                                 std::size_t batch_size, std::uint64_t seed) {
  const std::vector<std::size_t> order = permutation(examples.size(), seed);
  std::vector<std::vector<std::size_t>> batches;
  const std::size_t window = batch_size * kBatchesSortedTogether;
  for (std::size_t begin = 0; begin < order.size(); begin += window) {
    std::vector<std::size_t> part(
        order.begin() + static_cast<std::ptrdiff_t>(begin),
        order.begin() + static_cast<std::ptrdiff_t>(std::min(begin + window, order.size())));
    std::ranges::stable_sort(part, [&](std::size_t a, std::size_t b) {
      return length_of(examples[a]) < length_of(examples[b]);
    });
    const std::size_t n = (part.size() + batch_size - 1) / batch_size;
    for (const std::size_t b : permutation(n, seed + begin + 1)) {
      const std::size_t from = b * batch_size, to = std::min(from + batch_size, part.size());
      batches.emplace_back(part.begin() + static_cast<std::ptrdiff_t>(from),
                           part.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }
  return batches;
}

// The optimiser steps of a stage, by number.
class Steps {
 public:
  Steps(const StageContext& context, std::vector<Example> examples)
      : context_(context),
        settings_(context.stage.sft),
        examples_(std::move(examples)),
        per_epoch_(steps_per_epoch(settings_, examples_.size())),
        total_(per_epoch_ * settings_.epochs) {}

  std::int64_t total() const { return total_; }

  Status run(std::int64_t step, StepFigures& figures) {
    if (step / per_epoch_ != epoch_) {
      epoch_ = step / per_epoch_;
      batches_ =
          batches_of(examples_, static_cast<std::size_t>(settings_.batch_size),
                     seed_for(context_.plan.run.seed, "sft", context_.position.stage, epoch_));
    }
    Batch batch;
    for (const std::size_t i : batches_[static_cast<std::size_t>(step % per_epoch_)])
      batch.push_back(&examples_[i]);
    const double tokens = weighted_tokens(batch);
    Metrics reported;
    KRL_TRY(context_.policy.forward_backward(supervised_loss(tokens), batch, reported));
    const Optimizer optimizer = optimizer_at(
        settings_.optimizer, default_lr(context_.policy_info, kLrOfSupervision), step, total_);
    KRL_TRY(context_.policy.optimizer_step(optimizer, reported));
    lr_ = optimizer.lr;
    tokens_ += tokens;
    return figures.add(reported);
  }

  // The learning rate of the last step, and the tokens of all steps so far.
  double lr() const { return lr_; }
  double tokens() const { return tokens_; }

 private:
  const StageContext& context_;
  const SftSettings& settings_;
  const std::vector<Example> examples_;
  const std::int64_t per_epoch_, total_;
  std::int64_t epoch_ = -1;
  double lr_ = 0, tokens_ = 0;
  std::vector<std::vector<std::size_t>> batches_;
};

// The lessons as tokens, without those that are longer than the model's context.
Result<std::vector<Example>> tokenize(const StageContext& context, std::vector<Lesson> lessons) {
  const std::int64_t room = context.policy_info.context_tokens;
  std::vector<Example> examples;
  examples.reserve(lessons.size());
  const CountTokens count = tokens_of(context.policy, context.policy_info.has_tokens);
  for (Lesson& lesson : lessons) {
    RetrievedDocuments found = std::move(lesson.found);
    if (!found.documents.empty()) {
      KRL_ASSIGN(found, context.setup.retrieval->fit(std::move(found), lesson.pair->task,
                                                     *context.setup.prompts, count));
    }
    const Prompt prompt =
        context.setup.prompts->build(lesson.pair->task, lesson.earlier, found.documents);
    KRL_ASSIGN(Example example, context.policy.tokenize(prompt, lesson.answer));
    if (room == 0 || static_cast<std::int64_t>(length_of(example)) <= room) {
      examples.push_back(std::move(example));
    }
  }
  const std::size_t too_long = lessons.size() - examples.size();
  if (examples.empty()) {
    return failure(
        problem_at(context.stage.origin,
                   fmt::format("all {} pairs are longer than the policy's context of {} tokens",
                               too_long, room),
                   "give the policy a longer context, or choose shorter pairs"));
  }
  if (too_long > 0) {
    context.warn(fmt::format(
        "{} of {} pairs are longer than the policy's context of {} tokens and are skipped",
        too_long, lessons.size(), room));
  }
  return examples;
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
  const auto add = [&](const Prompt& prompt) {
    for (const Message& message : prompt) texts.push_back(message.text);
  };
  for (const Lesson& lesson : lessons) {
    add(setup.prompts->build(lesson.pair->task, lesson.earlier, lesson.found.documents));
    texts.push_back(lesson.answer);
  }
  for (const Task& task : setup.data.tasks) {
    RetrievedDocuments found;
    if (setup.retrieval != nullptr && setup.retrieval->shows({})) {
      KRL_ASSIGN(found, setup.retrieval->find(task));
    }
    add(setup.prompts->build(task, {}, found.documents));
  }
  return policy.fit(texts, seed);
}

Result<StageEnd> run_supervised(const StageContext& context, std::vector<Lesson> lessons) {
  KRL_ASSIGN(std::vector<Example> examples, tokenize(context, std::move(lessons)));
  Steps steps(context, std::move(examples));
  StepFigures figures(context.policy.component().id);
  const std::int64_t every = context.stage.sft.log_every;
  context.journal.stage_started(context.stage, context.position, context.plan.stages.size(),
                                ceil_div(steps.total(), every));
  bool stops = context.stop.load();
  while (context.position.stage_iteration * every < steps.total()) {
    if (stops) return StageEnd::kInterrupted;
    const std::int64_t first = context.position.stage_iteration * every;
    const std::int64_t last = std::min(first + every, steps.total());
    const Stopwatch watch;
    const double tokens_before = steps.tokens();
    figures.begin_iteration();
    for (std::int64_t step = first; step < last; ++step) {
      KRL_TRY(steps.run(step, figures));
      context.journal.progress(
          {"learn", static_cast<int>(step - first + 1), static_cast<int>(last - first)});
    }
    Metrics metrics = {{"actor/lr", steps.lr()},
                       {"actor/not_finite", figures.not_finite()},
                       {"perf/tokens_per_s", (steps.tokens() - tokens_before) / watch.seconds()},
                       {"time_s/iteration", watch.seconds()}};
    metrics.merge(figures.own());
    if (const auto loss = figures.of("loss")) metrics["sft/loss"] = *loss;
    if (const auto norm = figures.of("grad_norm")) metrics["actor/grad_norm"] = *norm;
    if (figures.not_finite() > 0)
      context.warn(
          fmt::format("iteration {}: {}", context.position.iteration + 1, figures.warning()));
    KRL_ASSIGN(stops, context.finish_iteration(std::move(metrics), last == steps.total()));
  }
  return StageEnd::kDone;
}

}  // namespace krl::core
