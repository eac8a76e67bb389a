#include "core/episode/rollout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "core/base/hash.hpp"
#include "core/base/log.hpp"
#include "core/episode/coroutine.hpp"
#include "core/episode/sampler.hpp"

namespace krl::core {
namespace {

namespace asio = boost::asio;

// Stack of one episode's coroutine; templates and JSON are built on it.
constexpr std::size_t kStackBytes = 256 * 1024;

// An answer that is cut off this often is lost.
constexpr int kMostParts = 4;

// Ends a thought that must not become longer, in the format of models that think.
constexpr const char* kThoughtEnd = "\n</think>\n\n";

// Appends a continuation to a partial answer.
void append_part(Answer& answer, Answer part) {
  if (answer.tokens.empty()) {
    answer = std::move(part);
    return;
  }
  const auto begin = static_cast<std::uint32_t>(answer.tokens.size());
  if (!part.tokens.empty() && (part.version != answer.version || !part.spans.empty())) {
    if (answer.spans.empty()) answer.spans = {{0, answer.version}};
    if (part.spans.empty()) part.spans = {{0, part.version}};
    for (const VersionSpan& span : part.spans)
      answer.spans.push_back({begin + span.first_token, span.version});
  }
  answer.text = std::move(part.text);  // the whole answer's text
  answer.tokens.insert(answer.tokens.end(), part.tokens.begin(), part.tokens.end());
  answer.logprobs.insert(answer.logprobs.end(), part.logprobs.begin(), part.logprobs.end());
  answer.stop_reason = part.stop_reason;
  answer.version = part.version;
  answer.state = std::move(part.state);
}

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
        evaluators_(std::clamp<std::size_t>(
            tasks.size() * static_cast<std::size_t>(context.settings.group_size), 1,
            context.evaluations.info().concurrency)),
        sampler_(
            make_sampler(context.settings.batching, io_, policy_threads_,
                         {context.player.sampler, sampling_of(context.settings),
                          context.player.info.shares_prompts, context.settings.answer_timeout_s},
                         [this] { answered(); })) {
    for (std::size_t g = 0; g < tasks.size(); ++g) {
      for (std::int64_t m = 0; m < context.settings.group_size; ++m) {
        episodes_.push_back({tasks[g], context.first_group + g, static_cast<std::size_t>(m), {}});
      }
    }
  }

  Result<RolloutResult> run() {
    expected_ = static_cast<int>(episodes_.size());
    KRL_TRY(retrieve());
    tokenize_first_prompts();
    for (std::size_t i = 0; i < episodes_.size(); ++i) sampler_->join();
    for (std::size_t i = 0; i < episodes_.size(); ++i) start(i);
    io_.run();
    policy_threads_.join();
    evaluators_.join();
    if (!status_) return failure(std::move(status_).error());
    return RolloutResult{std::move(episodes_), sampler_->meter().load(), sampler_->metrics(),
                         std::move(report_), std::move(lost_ ? lost_ : refused_)};
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
      Result<Prompt> prompt = next_prompt(episode);
      if (!prompt) {
        lose(std::move(turn), prompt.error(), episode);
        break;
      }
      turn.prompt = *std::move(prompt);
      const auto tokens = tokens_of(turn.prompt, episode, yield);
      if (!tokens && loses_turns(tokens.error())) {
        lose(std::move(turn), tokens.error(), episode);
        break;
      }
      if (!tokens) return failure(tokens.error());
      if (const Status room = check_room(*tokens); !room) {
        if (episode.turns.empty()) lose(std::move(turn), room.error(), episode);
        break;
      }
      KRL_ASSIGN(Reply reply, ask(request_for(turn.prompt, *tokens, episode), index, yield));
      if (reply.lost) {
        lose(std::move(turn), *reply.lost, episode);
        break;
      }
      turn.answer = std::move(reply.answer);
      turn.candidate = extract_candidate(turn.answer, context_.settings.in_thought);
      KRL_ASSIGN(Evaluated evaluated, evaluate(*episode.task, turn.candidate, yield));
      turn.evaluation = std::move(evaluated.evaluation);
      turn.reused = evaluated.reused;
      episode.turns.push_back(std::move(turn));
      if (episode.turns.back().infra_error()) break;
      KRL_ASSIGN(episode.turns.back().score, score(episode, yield));
      if (episode.turns.back().infra_error()) break;
      KRL_ASSIGN(const bool stop, stops(episode));
      if (!stop) continue;
      episode.unplayed = context_.settings.turns - static_cast<std::int64_t>(episode.turns.size());
      break;
    }
    return {};
  }

  // Retrieves the documents of each group. Blocks. Errors that only lose turns are kept for these
  // turns.
  Status retrieve() {
    if (context_.retrieval == nullptr) return {};
    for (const Episode& episode : episodes_) {
      if (episode.member != 0) continue;
      Result<RetrievedDocuments> found = documents_for(*episode.task);
      if (!found && !loses_turns(found.error())) return failure(found.error());
      if (!found) {
        documents_.emplace_back(failure(found.error()));
        continue;
      }
      report_.add(*found);
      documents_.emplace_back(std::move(found->documents));
    }
    return {};
  }

  Result<RetrievedDocuments> documents_for(const Task& task) const {
    const Player& player = context_.player;
    const CountTokens count = player.tokenizer != nullptr
                                  ? core::tokens_of(*player.tokenizer, true)
                                  : core::tokens_of(player.sampler, player.info.has_tokens);
    return context_.retrieval->documents_for(task, context_.prompts, count);
  }

  // An error where the documents for it could not be had.
  Result<Prompt> next_prompt(const Episode& episode) const {
    const bool shows = context_.retrieval != nullptr && context_.retrieval->shows(episode.turns);
    if (!shows) return context_.prompts.build(*episode.task, episode.turns);
    const auto& documents = documents_[episode.group - context_.first_group];
    if (!documents) return failure(documents.error());
    return context_.prompts.build(*episode.task, episode.turns, *documents);
  }

  using Tokens = std::vector<std::int32_t>;

  // True if prompts must be tokenized here.
  bool wants_tokens() const {
    const Player& player = context_.player;
    return player.tokenizer != nullptr || (player.context_tokens > 0 && player.info.has_tokens);
  }

  // Returns the tokens of an episode's next prompt; the first prompt is shared by the whole group.
  Result<std::optional<Tokens>> tokens_of(const Prompt& prompt, const Episode& episode,
                                          Yield yield) {
    if (!wants_tokens()) return std::nullopt;
    if (episode.turns.empty()) return first_tokens_[episode.group - context_.first_group];
    return run_on(policy_threads_, io_, yield, [&] { return tokenize(prompt); });
  }

  // Blocks.
  Result<std::optional<Tokens>> tokenize(const Prompt& prompt) const {
    const Player& player = context_.player;
    const Policy& policy = player.tokenizer == nullptr ? player.sampler : *player.tokenizer;
    KRL_ASSIGN(Example example, policy.tokenize(prompt, ""));
    return std::move(example.prompt_tokens);
  }

  // Tokenizes the first prompts before any episode asks for an answer: the episodes of a group ask
  // together.
  void tokenize_first_prompts() {
    if (!wants_tokens()) return;
    for (const Episode& episode : episodes_) {
      if (episode.member != 0) continue;
      const Result<Prompt> prompt = next_prompt(episode);
      if (prompt) first_tokens_.push_back(tokenize(*prompt));
      if (!prompt) first_tokens_.emplace_back(failure(prompt.error()));
    }
  }

  // Refuses a prompt that leaves no room for an answer that is worth its tokens. If it is the first
  // prompt, no turn of its task can be played; otherwise the history is too long.
  Status check_room(const std::optional<Tokens>& prompt) const {
    const std::int64_t context = context_.player.context_tokens;
    if (!prompt || context == 0) return {};
    const std::int64_t least =
        std::min(context_.settings.min_answer_tokens, context_.settings.max_tokens);
    if (context - static_cast<std::int64_t>(prompt->size()) >= least) return {};
    return invalid(fmt::format(
        "its prompt has {} tokens; the policy's context of {} must have {} more for the answer (rollout.min_answer_tokens): give the policy a longer context, choose shorter templates ([prompt]), {}or leave the task out",
        prompt->size(), context, least,
        context_.retrieval != nullptr ? "lower retrieval.max_tokens, " : ""));
  }

  EpisodeRequest request_for(const Prompt& prompt, const std::optional<Tokens>& tokens,
                             const Episode& episode) const {
    const auto seed = [&](const auto&... of_what) {
      return seed_for(context_.run_seed, "sample", context_.iteration, episode.task->id,
                      episode.group, of_what...);
    };
    EpisodeRequest r;
    r.request.prompt = prompt;
    r.request.seed = seed(episode.member, episode.turns.size());
    r.request.session = fmt::format("{}/{}/{}/{}", context_.iteration, episode.task->id,
                                    episode.group, episode.member);
    if (context_.player.tokenizer != nullptr && tokens) r.request.prompt_tokens = *tokens;
    if (episode.turns.empty()) r.shared_seed = seed() | 1U;  // the group's prompt is the same
    return r;
  }

  // Asks for an answer, and for the rest of it where it was cut off: before its end, or in a
  // thought that was to be no longer.
  Result<Reply> ask(EpisodeRequest request, std::size_t index, Yield yield) {
    Answer answer;
    if (context_.player.info.continues)
      request.request.max_tokens = static_cast<std::uint32_t>(context_.settings.thinking_tokens);
    for (int tries = 0; tries < kMostParts; ++tries) {
      KRL_ASSIGN(Reply reply, sampler_->sample(request, index, yield));
      if (reply.lost) return reply;
      KRL_TRY(check_version(reply.answer));
      append_part(answer, std::move(reply.answer));
      const bool used_up =
          request.request.max_tokens > 0 && answer.stop_reason == StopReason::kLength;
      if (!used_up && answer.stop_reason != StopReason::kAborted)
        return Reply{std::move(answer), std::nullopt};
      if (used_up) {
        const Result<bool> goes_on = end_thought(request.request.prompt, answer, yield);
        if (!goes_on && !loses_turns(goes_on.error())) return failure(goes_on.error());
        if (!goes_on) return Reply{{}, goes_on.error()};
        if (!*goes_on) return Reply{std::move(answer), std::nullopt};
        request.request.max_tokens = 0;
        request.request.seed = seed_for(request.request.seed, "after the thought");
      }
      if (!context_.player.info.continues) break;
      request.request.answer_prefix = answer.tokens;
      request.request.prompt_tokens = answer.prompt_tokens;
      request.shared_seed = 0;
    }
    return Reply{
        {},
        Error{Code::kUnavailable, fmt::format("policy '{}': the answer was cut off before its end",
                                              context_.player.sampler.component().id)}};
  }

  // Tokens that an answer may have after this one's prompt.
  std::size_t room_for(const Answer& answer) const {
    const std::int64_t most = context_.settings.max_tokens,
                       context = context_.player.context_tokens;
    if (context == 0) return static_cast<std::size_t>(most);
    const std::int64_t left = context - static_cast<std::int64_t>(answer.prompt_tokens.size());
    return static_cast<std::size_t>(std::clamp<std::int64_t>(left, 0, most));
  }

  // Puts the end of a thought behind an answer that is in one. False where that leaves no room for
  // more: the answer is then cut off.
  Result<bool> end_thought(const Prompt& prompt, Answer& answer, Yield yield) {
    const std::size_t tokens = answer.tokens.size();
    if (!is_thinking(answer.text, context_.settings.in_thought)) return tokens < room_for(answer);
    if (thought_end_.empty()) {
      KRL_ASSIGN(thought_end_, tokens_of_end(prompt, yield));
    }
    if (tokens + thought_end_.size() >= room_for(answer)) return false;
    answer.tokens.insert(answer.tokens.end(), thought_end_.begin(), thought_end_.end());
    answer.logprobs.resize(answer.tokens.size(), 0.0F);
    answer.given_begin = static_cast<std::uint32_t>(tokens);
    answer.given_end = static_cast<std::uint32_t>(answer.tokens.size());
    return true;
  }

  // Returns the tokens of kThoughtEnd in an answer, without those that end every answer.
  Result<Tokens> tokens_of_end(const Prompt& prompt, Yield yield) {
    const Policy& policy =
        context_.player.tokenizer == nullptr ? context_.player.sampler : *context_.player.tokenizer;
    const auto tokens_in = [&](const char* answer) -> Result<Tokens> {
      KRL_ASSIGN(Example example, run_on(policy_threads_, io_, yield,
                                         [&] { return policy.tokenize(prompt, answer); }));
      return std::move(example.tokens);
    };
    KRL_ASSIGN(Tokens tokens, tokens_in(kThoughtEnd));
    KRL_ASSIGN(const Tokens of_nothing, tokens_in(""));
    if (of_nothing.size() <= tokens.size() &&
        std::equal(of_nothing.rbegin(), of_nothing.rend(), tokens.rbegin()))
      tokens.resize(tokens.size() - of_nothing.size());
    return tokens;
  }

  // An answer by weights that were never published must not be learned from.
  Status check_version(const Answer& answer) const {
    const auto& newest = context_.player.version;
    if (!newest || answer.version <= *newest) return {};
    const Component& sampler = context_.player.sampler.component();
    const std::string why = fmt::format(
        "policy '{}' answered with weights of version {}, but the newest it was given are version {}",
        sampler.id, answer.version, *newest);
    return failure(Code::kInternal, with_plugin(why, sampler));
  }

  // A turn without an answer is an infrastructure error, and its episode ends. So it does before a
  // later turn whose prompt is refused, as where the context leaves no room for an answer.
  void lose(TurnRecord turn, const Error& why, Episode& episode) {
    episode.refused = why.code == Code::kInvalidArgument;
    log(Severity::kWarning, fmt::format("task '{}', turn {}: no answer: {}", episode.task->id,
                                        episode.turns.size() + 1, why.message));
    keep_cause(episode.refused ? refused_ : lost_, why.message,
               context_.player.sampler.component());
    if (episode.refused && !episode.turns.empty()) return;
    turn.lost = true;
    turn.evaluation.verdict = Verdict::kInfraError;
    turn.evaluation.why = why.message;
    episode.turns.push_back(std::move(turn));
  }

  static void keep_cause(std::optional<Error>& first, const std::string& why,
                         const Component& component) {
    if (!first) first = Error{Code::kUnavailable, with_plugin(why, component)};
  }

  Result<Evaluated> evaluate(const Task& task, const Candidate& candidate, Yield yield) {
    Result<Evaluated> result = run_on(evaluators_, io_, yield, [&] {
      return context_.evaluations.evaluate(task, candidate, context_.iteration);
    });
    ++evaluated_;
    report();
    if (result && result->evaluation.infra_error())
      keep_cause(lost_, result->evaluation.why, context_.evaluations.backend());
    return result;
  }

  // A reward may have to wait for something, as a backend may.
  Result<Score> score(const Episode& episode, Yield yield) {
    Result<Score> result =
        run_on(evaluators_, io_, yield, [&] { return context_.scorer.score(episode); });
    if (result && !result->lost.empty() && !lost_) lost_ = Error{Code::kUnavailable, result->lost};
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
  std::vector<Result<std::vector<Document>>> documents_;  // one for each group
  RetrievalReport report_;
  std::vector<Result<std::optional<Tokens>>> first_tokens_;  // first prompt of each group
  int expected_ = 0, answered_ = 0, evaluated_ = 0;
  std::vector<std::int32_t> thought_end_;  // the tokens of kThoughtEnd, once they are known
  std::optional<Error> lost_, refused_;    // the first causes
  Status status_;
};

}  // namespace

Sampling sampling_of(const RolloutSettings& s) {
  return {static_cast<std::uint32_t>(s.max_tokens), s.temperature, s.top_p,
          static_cast<std::int32_t>(s.top_k), s.stop};
}

Status check_not_all_lost(const RolloutResult& rollout) {
  if (!rollout.lost) return {};
  for (const Episode& episode : rollout.episodes) {
    for (const TurnRecord& turn : episode.turns)
      if (!turn.infra_error()) return {};
  }
  return failure(rollout.lost->code,
                 fmt::format("every turn was lost, the first because: {}", rollout.lost->message));
}

void append(RolloutResult& rollout, RolloutResult more) {
  const auto before = static_cast<double>(rollout.episodes.size());
  const auto added = static_cast<double>(more.episodes.size());
  const auto mean = [&](double a, double b) { return (before * a + added * b) / (before + added); };
  SamplerLoad& load = rollout.load;
  load.answers_in_flight = mean(load.answers_in_flight, more.load.answers_in_flight);
  load.wait_seconds = mean(load.wait_seconds, more.load.wait_seconds);
  for (const auto& [name, value] : more.sampling) merge_metric(rollout.sampling, name, value);
  rollout.retrieval.add(more.retrieval);
  if (!rollout.lost) rollout.lost = std::move(more.lost);
  rollout.episodes.insert(rollout.episodes.end(), std::make_move_iterator(more.episodes.begin()),
                          std::make_move_iterator(more.episodes.end()));
}

Result<RolloutResult> run_rollout(const std::vector<const Task*>& tasks,
                                  const RolloutContext& context) {
  return Rollout(tasks, context).run();
}

}  // namespace krl::core
