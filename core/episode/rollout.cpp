#include "core/episode/rollout.hpp"

#include <fmt/format.h>

#include <memory>

#include "core/base/hash.hpp"
#include "core/episode/coroutine_stack.hpp"
#include "core/episode/sampler.hpp"
#include "core/episode/suspend.hpp"

namespace krl {
namespace {

namespace asio = boost::asio;

// Of a coroutine: JSON and templates are built on it.
constexpr std::size_t kStackBytes = 256 * 1024;

// Leaves the sampler with the episode, however that ends: the others would wait for it.
class Membership {
 public:
  explicit Membership(Sampler& sampler) : sampler_(sampler) {}
  ~Membership() { sampler_.leave(); }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  Sampler& sampler_;
};

// The shared state of a rollout; used on the thread of `io`, but for the pools' own work.
class Rollout {
 public:
  Rollout(const std::vector<const Task*>& tasks, const RolloutContext& context)
      : context_(context),
        policy_threads_(context.settings.batching == Batching::kContinuous ? 2 : 1),
        evaluators_(context.evaluations.info().concurrency),
        sampler_(make_sampler(context.settings.batching, io_, policy_threads_, context.policy,
                              sampling_of(context.settings), [this] { answered(); })) {
    for (std::size_t g = 0; g < tasks.size(); ++g) {
      for (std::int64_t m = 0; m < context.settings.group_size; ++m) {
        episodes_.push_back({tasks[g], g, static_cast<std::size_t>(m), {}});
      }
    }
  }

  Result<RolloutResult> run() {
    expected_ = static_cast<int>(episodes_.size());
    for (std::size_t i = 0; i < episodes_.size(); ++i) sampler_->join();
    for (std::size_t i = 0; i < episodes_.size(); ++i) start(i);
    io_.run();
    policy_threads_.join();
    evaluators_.join();
    if (!status_) return failure(std::move(status_).error());
    return RolloutResult{std::move(episodes_), sampler_->meter().load()};
  }

 private:
  void start(std::size_t index) {
    asio::spawn(
        io_, std::allocator_arg, CoroutineStack(kStackBytes),
        [this, index](Yield yield) {
          const Membership member(*sampler_);
          const Status status = run_episode(episodes_[index], index, yield);
          if (!status && status_) status_ = status;
        },
        [this](const std::exception_ptr& thrown) { keep(thrown); });
  }

  // An episode from its first prompt to its last score. An error is the run's, not the candidate's.
  Status run_episode(Episode& episode, std::size_t index, Yield yield) {
    while (static_cast<std::int64_t>(episode.turns.size()) < context_.settings.turns && status_) {
      TurnRecord turn;
      KRL_ASSIGN(turn.prompt, context_.prompts.build(*episode.task, episode.turns));
      KRL_ASSIGN(const bool has_room, has_room_for_answer(turn.prompt, episode, yield));
      if (!has_room) break;
      KRL_ASSIGN(turn.answer, sampler_->sample({turn.prompt, seed_of(episode)}, index, yield));
      turn.candidate = extract_candidate(turn.answer);
      KRL_ASSIGN(Evaluated evaluated, evaluate(*episode.task, turn.candidate, yield));
      turn.evaluation = std::move(evaluated.evaluation);
      turn.reused = evaluated.reused;
      episode.turns.push_back(std::move(turn));
      if (episode.turns.back().evaluation.infra_error()) break;
      KRL_ASSIGN(episode.turns.back().score, context_.scorer.score(episode));
      KRL_ASSIGN(const bool stop, stops(episode));
      if (stop) break;
    }
    return {};
  }

  // Whether the history of a later turn still leaves a token for an answer. (A first prompt that
  // is too long is the policy's error: no turn of its task can be played.)
  Result<bool> has_room_for_answer(const Prompt& prompt, const Episode& episode, Yield yield) {
    if (episode.turns.empty() || context_.context_tokens == 0) return true;
    KRL_ASSIGN(const Example example, run_on(policy_threads_, io_, yield,
                                             [&] { return context_.policy.tokenize(prompt, ""); }));
    return static_cast<std::int64_t>(example.prompt_tokens.size()) < context_.context_tokens;
  }

  std::uint64_t seed_of(const Episode& episode) const {
    return seed_for(context_.run_seed, "sample", context_.iteration, episode.task->id,
                    episode.group, episode.member, episode.turns.size());
  }

  Result<Evaluated> evaluate(const Task& task, const Candidate& candidate, Yield yield) {
    Result<Evaluated> result = run_on(evaluators_, io_, yield, [&] {
      return context_.evaluations.evaluate(task, candidate, context_.iteration);
    });
    ++evaluated_;
    report();
    return result;
  }

  Result<bool> stops(const Episode& episode) const {
    if (!context_.settings.stop_when) return false;
    const TurnRecord& turn = episode.turns.back();
    const double speedup = turn.evaluation.speedup();
    const RealNames values = {{"score", turn.score.total},
                              {"best_score", *episode.best_score()},
                              {"turn", static_cast<double>(episode.turns.size())},
                              {"speedup", std::isfinite(speedup) ? speedup : 0.0},
                              {"compiled", turn.evaluation.compiled() ? 1.0 : 0.0},
                              {"passed", turn.evaluation.passed() ? 1.0 : 0.0}};
    const auto stop = context_.settings.stop_when->expression.condition(values);
    if (!stop) return invalid(fmt::format("rollout.stop_when: {}", stop.error().message));
    return *stop;
  }

  void answered() {
    ++answered_;
    report();
  }

  void report() {
    if (!context_.progress) return;
    const bool sampling = answered_ < expected_;
    context_.progress(sampling ? "sample" : "evaluate", sampling ? answered_ : evaluated_,
                      expected_);
  }

  // An episode let an exception out: a defect here or in a library below.
  void keep(const std::exception_ptr& thrown) {
    if (thrown == nullptr || !status_) return;
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
      status_ =
          failure(Code::kInternal, fmt::format("an episode ended with an exception: {}", e.what()));
    } catch (...) {
      status_ = failure(Code::kInternal, "an episode ended with an unknown exception");
    }
  }

  const RolloutContext& context_;
  asio::io_context io_{1};
  asio::thread_pool policy_threads_;  // while one samples, another may count tokens
  asio::thread_pool evaluators_;
  const std::unique_ptr<Sampler> sampler_;
  std::vector<Episode> episodes_;
  int expected_ = 0, answered_ = 0, evaluated_ = 0;
  Status status_;
};

}  // namespace

Sampling sampling_of(const RolloutSettings& s) {
  return {static_cast<std::uint32_t>(s.max_tokens), s.temperature, s.top_p,
          static_cast<std::int32_t>(s.top_k), s.stop};
}

Result<RolloutResult> run_rollout(const std::vector<const Task*>& tasks,
                                  const RolloutContext& context) {
  return Rollout(tasks, context).run();
}

}  // namespace krl
