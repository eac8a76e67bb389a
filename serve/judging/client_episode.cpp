#include "serve/judging/client_episode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "core/episode/evaluations.hpp"
#include "core/episode/stop.hpp"

namespace krl::serve {

ClientAnswer read_answer(std::string text, bool is_cut) {
  ClientAnswer given;
  given.answer.text = std::move(text);
  given.answer.stop_reason = is_cut ? KRL_STOP_LENGTH : KRL_STOP_END;
  given.candidate = extract_candidate(given.answer);
  return given;
}

ClientAnswer read_code(std::string text) {
  ClientAnswer given = read_answer(std::move(text));
  const std::string& code = given.answer.text;
  const bool is_bare = given.candidate.format == Format::kMissing &&
                       code.find("```") == std::string::npos &&
                       code.find_first_not_of(" \t\r\n") != std::string::npos;
  if (is_bare) given.candidate = {code, {}, Format::kExact};
  return given;
}

ClientEpisode::ClientEpisode(JudgeService& service, std::string client, TaskPointer task,
                             EpisodeOptions options)
    : service_(service), client_(std::move(client)), task_(std::move(task)), options_(options) {
  if (options_.turns == 0) options_.turns = service.rollout().turns;
  episode_.task = &task_->task;
}

void ClientEpisode::answer(ClientAnswer given, Done done, std::chrono::seconds limit) {
  if (given.answer.text.size() > kMostAnswer)
    return done(invalid(fmt::format("an answer may have {} bytes", kMostAnswer)));
  if (const Status begun = begin(); !begun) return done(failure(begun.error()));
  if (auto refused =
          format_error(given.candidate, service_.rollout().contract, service_.backend().id)) {
    const std::string source = given.candidate.source;
    return score(std::move(given), tell(*task_, source, {*std::move(refused), {}}),
                 std::move(done));
  }
  const auto take_verdict = [self = shared_from_this(), given, done](const Outcome& outcome) {
    if (!outcome.told) return self->fail(outcome.told.error(), done);
    self->score(given, *outcome.told, done);
  };
  const auto ticket =
      service_.queue().submit(service_.order_of(client_, task_, given.candidate.source,
                                                limit.count() > 0 ? limit : options_.limit),
                              take_verdict);
  std::unique_lock lock(mutex_);
  ticket_ = ticket;
  const bool has_left = has_left_;
  lock.unlock();
  if (has_left && ticket != 0) service_.queue().cancel(ticket);
}

Status ClientEpisode::begin() {
  const std::lock_guard lock(mutex_);
  if (is_over_) return failure(Code::kFailedPrecondition, "the episode is over; begin another");
  if (judges_)
    return failure(Code::kFailedPrecondition,
                   "an answer of this episode is still being judged; wait for its evaluation");
  judges_ = true;
  return {};
}

void ClientEpisode::fail(Error why, const Done& done) {
  {
    const std::lock_guard lock(mutex_);
    judges_ = false;
  }
  done(failure(std::move(why)));
}

void ClientEpisode::score(ClientAnswer given, ToldPointer told, Done done) {
  boost::asio::post(service_.scoring(), [self = shared_from_this(), given = std::move(given),
                                         told = std::move(told), done = std::move(done)] {
    Result<JudgedTurn> judged = self->take(given, told);
    if (!judged) return self->fail(judged.error(), done);
    done(*std::move(judged));
  });
}

Result<JudgedTurn> ClientEpisode::take(ClientAnswer given, ToldPointer told) {
  std::unique_lock lock(mutex_);
  Episode episode = episode_;
  lock.unlock();
  const std::optional<double> before = episode.best_score();
  TurnRecord turn;
  turn.prompt = service_.prompt(task(), episode.turns);
  turn.answer = std::move(given.answer);
  turn.candidate = std::move(given.candidate);
  turn.evaluation = told->evaluation;
  episode.turns.push_back(std::move(turn));
  KRL_ASSIGN(const Score score, service_.scorer().score(episode));
  if (!score.lost.empty()) return failure(Code::kUnavailable, score.lost);
  episode.turns.back().score = score;
  KRL_ASSIGN(const bool stop, stops(episode, service_.rollout().stop_when));
  const double gain = before ? std::max(0.0, score.total - *before) : score.total;
  lock.lock();
  const TurnRecord& last = episode.turns.back();
  bytes_ += last.answer.text.size() + last.candidate.source.size() + bytes_of(*told);
  episode_ = std::move(episode);
  judges_ = false;
  is_over_ =
      has_left_ || stop || static_cast<std::int64_t>(episode_.turns.size()) >= options_.turns;
  return JudgedTurn{std::move(told), score, options_.pays == Pays::kScore ? score.total : gain,
                    is_over_};
}

void ClientEpisode::cancel() {
  std::unique_lock lock(mutex_);
  const auto ticket = judges_ ? std::exchange(ticket_, 0) : 0;
  lock.unlock();
  if (ticket != 0) service_.queue().cancel(ticket);
}

void ClientEpisode::leave() {
  {
    const std::lock_guard lock(mutex_);
    has_left_ = is_over_ = true;
  }
  cancel();
}

Prompt ClientEpisode::prompt() const {
  const std::lock_guard lock(mutex_);
  return service_.prompt(task(), episode_.turns);
}

std::int64_t ClientEpisode::turns() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(episode_.turns.size());
}

std::size_t ClientEpisode::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace krl::serve
