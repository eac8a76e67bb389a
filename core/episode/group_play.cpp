#include "core/episode/group_play.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/hash.hpp"
#include "core/base/log.hpp"
#include "core/episode/stop.hpp"

namespace krl::core {
namespace {

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
  if (!part.tokens.empty() &&
      (part.policy_version != answer.policy_version || !part.spans.empty())) {
    if (answer.spans.empty()) answer.spans = {{0, answer.policy_version}};
    if (part.spans.empty()) part.spans = {{0, part.policy_version}};
    for (const SpanValue& span : part.spans)
      answer.spans.push_back({begin + span.first_token, span.version});
  }
  answer.text = std::move(part.text);  // the whole answer's text
  answer.tokens.insert(answer.tokens.end(), part.tokens.begin(), part.tokens.end());
  answer.logprobs.insert(answer.logprobs.end(), part.logprobs.begin(), part.logprobs.end());
  answer.stop_reason = part.stop_reason;
  answer.policy_version = part.policy_version;
  answer.state = std::move(part.state);
}

void keep_cause(std::optional<Error>& first, const std::string& why, const Component& component) {
  if (!first) first = Error{Code::kUnavailable, with_plugin(why, component)};
}

}  // namespace

Rollout::Rollout(const RolloutContext& with, boost::asio::io_context& on, const Player& player,
                 std::size_t begins_with, LoadMeter& meter, Metrics& sampling)
    : context(with),
      io(on),
      policy_threads(context.settings.batching == Batching::kContinuous ? 2 : 1),
      evaluators(std::clamp<std::size_t>(begins_with, 1, context.evaluations.info().concurrency)),
      sampler(make_sampler(context.settings.batching, io, policy_threads,
                           {player.sampler, player.info.shares_prompts,
                            context.settings.answer_timeout_s, meter, sampling},
                           [this] {
                             ++answered;
                             report();
                           })) {}

void Rollout::keep(Status result) {
  if (status) status = std::move(result);
}

void Rollout::report() const {
  if (!context.progress) return;
  const bool sampling = answered < episodes;
  context.progress(sampling ? "sample" : "evaluate", sampling ? answered : evaluated, episodes);
}

GroupPlay::GroupPlay(Rollout& rollout, std::shared_ptr<const Player> player, const Group& group)
    : rollout_(rollout),
      context_(rollout.context),
      player_(std::move(player)),
      judged_(group.judged),
      played_{group.id, {}, {}, {}, {}},
      left_(static_cast<std::size_t>(context_.settings.group_size)) {
  for (std::size_t member = 0; member < left_; ++member) {
    played_.episodes.push_back({group.task, group.id, member, {}, group.given});
    played_.episodes.back().begun_with = group.begun_with;
  }
}

Status GroupPlay::prepare() {
  const Episode& first = played_.episodes.front();
  if (context_.retrieval != nullptr) {
    Result<RetrievedDocuments> found = context_.retrieval->documents_for(
        *first.task, context_.prompts,
        core::tokens_of(tokenizer(), player_->tokenizer != nullptr || player_->info.has_tokens));
    if (found) {
      played_.retrieval.add(*found);
      documents_ = std::move(found->documents);
    } else {
      if (!loses_turns(found.error())) return failure(found.error());
      documents_ = failure(found.error());
    }
  }
  return prepare_first_prompt();
}

Status GroupPlay::prepare_first_prompt() {
  if (!wants_tokens()) return {};
  const Episode& first = played_.episodes.front();
  const Result<Prompt> prompt = next_prompt(first);
  if (!prompt) return {};
  first_tokens_ = tokenize(*prompt);
  if (first.given.empty() || !first_tokens_ || check_room(*first_tokens_)) return {};
  for (Episode& episode : played_.episodes) episode.given.erase(episode.given.begin());
  return prepare_first_prompt();
}

Status GroupPlay::play(std::size_t member, std::size_t order, Yield yield) {
  Episode& episode = played_.episodes[member];
  const std::int64_t most = context_.settings.turns;
  while (static_cast<std::int64_t>(episode.turns.size()) < most && rollout_.status) {
    TurnRecord turn;
    KRL_ASSIGN(std::optional<Reply> reply, next_reply(turn, episode, order, yield));
    if (!reply) break;
    if (reply->lost) {
      lose(std::move(turn), *reply->lost, episode);
      break;
    }
    turn.answer = std::move(reply->answer);
    turn.candidate = extract_candidate(turn.answer, context_.settings.in_thought);
    KRL_ASSIGN(Evaluated evaluated, evaluate(episode, turn.candidate, yield));
    turn.evaluation = std::move(evaluated.evaluation);
    turn.reused = evaluated.reused;
    episode.turns.push_back(std::move(turn));
    if (episode.turns.back().infra_error()) break;
    KRL_ASSIGN(episode.turns.back().score, score(episode, yield));
    if (episode.turns.back().infra_error()) break;
    KRL_ASSIGN(const bool stop, stops(episode, context_.settings.stop_when));
    if (!stop) continue;
    episode.unplayed = most - static_cast<std::int64_t>(episode.turns.size());
    break;
  }
  return {};
}

// Builds the prompt of the next turn and asks for its answer; nothing if the earlier turns leave no
// room for one.
Result<std::optional<Reply>> GroupPlay::next_reply(TurnRecord& turn, const Episode& episode,
                                                   std::size_t order, Yield yield) {
  Result<Prompt> prompt = next_prompt(episode);
  if (!prompt) return Reply{{}, prompt.error()};
  turn.prompt = *std::move(prompt);
  const auto tokens = tokens_of(turn.prompt, episode, yield);
  if (!tokens && loses_turns(tokens.error())) return Reply{{}, tokens.error()};
  if (!tokens) return failure(tokens.error());
  if (const Status room = check_room(*tokens); !room) {
    if (!episode.turns.empty()) return std::nullopt;
    return Reply{{}, room.error()};
  }
  return ask_for_new(request_for(turn.prompt, *tokens, episode), turn, order, yield);
}

// An error where the documents for it could not be had.
Result<Prompt> GroupPlay::next_prompt(const Episode& episode) const {
  std::vector<TurnRecord> all;
  if (!episode.given.empty()) {
    all = episode.given;
    all.insert(all.end(), episode.turns.begin(), episode.turns.end());
  }
  const std::vector<TurnRecord>& earlier = episode.given.empty() ? episode.turns : all;
  const bool shows = context_.retrieval != nullptr && context_.retrieval->shows(episode.turns);
  if (!shows) return context_.prompts.build(*episode.task, earlier);
  if (!documents_) return failure(documents_.error());
  return context_.prompts.build(*episode.task, earlier, *documents_);
}

// True if prompts must be tokenized here.
bool GroupPlay::wants_tokens() const {
  return player_->tokenizer != nullptr || (player_->context_tokens > 0 && player_->info.has_tokens);
}

const Policy& GroupPlay::tokenizer() const {
  return player_->tokenizer != nullptr ? *player_->tokenizer : player_->sampler;
}

// Blocks.
Result<std::optional<GroupPlay::Tokens>> GroupPlay::tokenize(const Prompt& prompt) const {
  KRL_ASSIGN(Example example, tokenizer().tokenize(prompt, ""));
  return std::move(example.prompt_tokens);
}

// Returns the tokens of an episode's next prompt; the first prompt is shared by the whole group.
Result<std::optional<GroupPlay::Tokens>> GroupPlay::tokens_of(const Prompt& prompt,
                                                              const Episode& episode, Yield yield) {
  if (episode.turns.empty()) return first_tokens_;
  if (!wants_tokens()) return std::nullopt;
  return run_on(rollout_.policy_threads, rollout_.io, yield, [&] { return tokenize(prompt); });
}

// Refuses a prompt that leaves no room for an answer that is worth its tokens. If it is the first
// prompt, no turn of its task can be played; otherwise the history is too long.
Status GroupPlay::check_room(const std::optional<Tokens>& prompt) const {
  const std::int64_t context = player_->context_tokens;
  if (!prompt || context == 0) return {};
  const std::int64_t least =
      std::min(context_.settings.min_answer_tokens, context_.settings.max_tokens);
  if (context - static_cast<std::int64_t>(prompt->size()) >= least) return {};
  return invalid(fmt::format(
      "its prompt has {} tokens; the policy's context of {} must have {} more for the answer (rollout.min_answer_tokens): give the policy a longer context, choose shorter templates ([prompt]), {}or leave the task out",
      prompt->size(), context, least,
      context_.retrieval != nullptr ? "lower retrieval.max_tokens, " : ""));
}

EpisodeRequest GroupPlay::request_for(const Prompt& prompt, const std::optional<Tokens>& tokens,
                                      const Episode& episode) const {
  const auto& [round, index] = episode.group;
  const auto seed = [&, round = round, index = index](const auto&... of_what) {
    return seed_for(context_.run_seed, "sample", round, episode.task->id, index, of_what...);
  };
  EpisodeRequest r;
  r.request.messages = prompt;
  r.request.sampling = sampling_of(context_.settings);
  r.request.seed = seed(episode.member, episode.turns.size());
  r.request.session = fmt::format("{}/{}/{}/{}", round, episode.task->id, index, episode.member);
  if (player_->tokenizer != nullptr && tokens) r.request.prompt_tokens = *tokens;
  if (episode.turns.empty()) r.shared_seed = seed() | 1U;  // the group's prompt is the same
  return r;
}

// Asks for an answer again, as often as the plan allows, while its kernel was judged before.
Result<Reply> GroupPlay::ask_for_new(EpisodeRequest request, TurnRecord& turn, std::size_t order,
                                     Yield yield) {
  for (;;) {
    KRL_ASSIGN(Reply reply, ask(request, order, yield));
    if (reply.lost || turn.dropped >= context_.settings.distinct || !was_judged(reply.answer))
      return reply;
    ++turn.dropped;
    turn.dropped_tokens += static_cast<std::int64_t>(reply.answer.tokens.size());
    request.request.seed = seed_for(request.request.seed, "distinct");
    request.shared_seed = 0;
  }
}

bool GroupPlay::was_judged(const Answer& answer) const {
  if (judged_ == nullptr) return false;
  const std::string source = extract_candidate(answer, context_.settings.in_thought).source;
  return !source.empty() && judged_->contains(identity_of(source));
}

// Asks for an answer, and for the rest of it where it was cut off: before its end, or in a thought
// that was to be no longer.
Result<Reply> GroupPlay::ask(EpisodeRequest request, std::size_t order, Yield yield) {
  Answer answer;
  std::uint32_t& limit = request.request.sampling.max_tokens;
  const auto most = limit, budget = static_cast<std::uint32_t>(context_.settings.thinking_tokens);
  bool may_think = player_->info.continues && budget > 0;  // the limit is that of the thought
  if (may_think) limit = std::min(most, budget);
  for (int tries = 0; tries < kMostParts; ++tries) {
    KRL_ASSIGN(Reply reply, rollout_.sampler->sample(request, order, yield));
    if (reply.lost) return reply;
    KRL_TRY(check_version(reply.answer));
    append_part(answer, std::move(reply.answer));
    const bool used_up = may_think && answer.stop_reason == KRL_STOP_LENGTH;
    if (!used_up && answer.stop_reason != KRL_STOP_ABORTED)
      return Reply{std::move(answer), std::nullopt};
    if (used_up) {
      const Result<bool> goes_on = end_thought(request.request.messages, answer, yield);
      if (!goes_on && !loses_turns(goes_on.error())) return failure(goes_on.error());
      if (!goes_on) return Reply{{}, goes_on.error()};
      if (!*goes_on) return Reply{std::move(answer), std::nullopt};
      may_think = false;
      limit = most;
      request.request.seed = seed_for(request.request.seed, "after the thought");
    }
    if (!player_->info.continues) break;
    request.request.answer_prefix = answer.tokens;
    request.request.prompt_tokens = answer.prompt_tokens;
    request.shared_seed = 0;
  }
  return Reply{
      {},
      Error{Code::kUnavailable, fmt::format("policy '{}': the answer was cut off before its end",
                                            player_->sampler.component().id)}};
}

// Tokens that an answer may have after this one's prompt.
std::size_t GroupPlay::room_for(const Answer& answer) const {
  const std::int64_t most = context_.settings.max_tokens, context = player_->context_tokens;
  if (context == 0) return static_cast<std::size_t>(most);
  const std::int64_t left = context - static_cast<std::int64_t>(answer.prompt_tokens.size());
  return static_cast<std::size_t>(std::clamp<std::int64_t>(left, 0, most));
}

// Puts the end of a thought behind an answer that is in one. False where that leaves no room for
// more: the answer is then cut off.
Result<bool> GroupPlay::end_thought(const Prompt& prompt, Answer& answer, Yield yield) {
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
Result<GroupPlay::Tokens> GroupPlay::tokens_of_end(const Prompt& prompt, Yield yield) {
  const auto tokens_in = [&](const char* answer) -> Result<Tokens> {
    KRL_ASSIGN(Example example, run_on(rollout_.policy_threads, rollout_.io, yield,
                                       [&] { return tokenizer().tokenize(prompt, answer); }));
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
Status GroupPlay::check_version(const Answer& answer) const {
  const auto& newest = player_->version;
  if (!newest || answer.policy_version <= *newest) return {};
  const Component& sampler = player_->sampler.component();
  const std::string why = fmt::format(
      "policy '{}' answered with weights of version {}, but the newest it was given are version {}",
      sampler.id, answer.policy_version, *newest);
  return failure(Code::kInternal, with_plugin(why, sampler));
}

// A turn without an answer is an infrastructure error, and its episode ends. So it does before a
// later turn whose prompt is refused, as where the context leaves no room for an answer.
void GroupPlay::lose(TurnRecord turn, const Error& why, Episode& episode) {
  episode.refused = why.code == Code::kInvalidArgument;
  log(Severity::kWarning, fmt::format("task '{}', turn {}: no answer: {}", episode.task->id,
                                      episode.turns.size() + 1, why.message));
  keep_cause(episode.refused ? played_.refused : played_.lost, why.message,
             player_->sampler.component());
  if (episode.refused && !episode.turns.empty()) return;
  turn.lost = true;
  turn.evaluation.verdict = Verdict::kInfraError;
  turn.evaluation.why = why.message;
  episode.turns.push_back(std::move(turn));
}

Result<Evaluated> GroupPlay::evaluate(const Episode& episode, const Candidate& candidate,
                                      Yield yield) {
  Result<Evaluated> result = run_on(rollout_.evaluators, rollout_.io, yield, [&] {
    return context_.evaluations.evaluate(*episode.task, candidate, episode.group.round);
  });
  ++rollout_.evaluated;
  rollout_.report();
  if (result && result->evaluation.infra_error())
    keep_cause(played_.lost, result->evaluation.why, context_.evaluations.backend());
  return result;
}

// A reward may have to wait for something, as a backend may.
Result<Score> GroupPlay::score(const Episode& episode, Yield yield) {
  Result<Score> result = run_on(rollout_.evaluators, rollout_.io, yield,
                                [&] { return context_.scorer.score(episode); });
  if (result && !result->lost.empty() && !played_.lost)
    played_.lost = Error{Code::kUnavailable, result->lost};
  return result;
}

}  // namespace krl::core
