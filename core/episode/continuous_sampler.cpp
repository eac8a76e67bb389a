#include "core/episode/continuous_sampler.hpp"

#include <chrono>
#include <utility>

namespace krl {
namespace {

// Nobody wakes a policy that waits when the user stops the run.
constexpr std::chrono::milliseconds kLookForStop{50};

}  // namespace

ContinuousSampler::ContinuousSampler(boost::asio::io_context& io, boost::asio::thread_pool& pool,
                                     const SamplingSetup& setup, OnAnswered on_answered)
    : io_(io), pool_(pool), setup_(setup), on_answered_(std::move(on_answered)) {}

Result<Reply> ContinuousSampler::sample(EpisodeRequest request, std::size_t /*order*/,
                                        Yield yield) {
  Result<Reply> reply = suspend<Result<Reply>>(
      io_, yield, [&](auto resume) { enqueue(std::move(request), std::move(resume)); });
  on_answered_();
  return reply;
}

void ContinuousSampler::enqueue(EpisodeRequest request, Resume resume) {
  {
    const std::lock_guard lock(mutex_);
    if (!status_) {
      if (loses_turns(status_.error())) return resume(Reply{{}, status_.error()});
      return resume(failure(status_.error()));
    }
    waiting_.push_back({std::move(request), LoadMeter::Clock::now(), std::move(resume)});
  }
  changed_.notify_one();
  if (std::exchange(started_, true)) return;
  // After the other episodes that start now, so that the policy's first batch is a full one.
  boost::asio::post(io_, [this] { boost::asio::post(pool_, [this] { stream(); }); });
}

void ContinuousSampler::leave() {
  if (--live_ > 0) return;
  const std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_one();
}

void ContinuousSampler::stream() {
  const AnswerSink sink{[this](std::size_t request, std::uint32_t sample, Answer answer) {
                          std::unique_lock lock(mutex_);
                          const std::size_t i = asked_[request].waiting[sample];
                          lock.unlock();
                          reply(i, {std::move(answer), std::nullopt});
                        },
                        [this](std::size_t request, const Error& why) { lose(request, why); }};
  const Status status = setup_.policy.sample_stream(
      setup_.sampling, [this](bool wait) { return next(wait); }, sink, metrics_);
  if (!status) end(status.error());
}

// Those that came together with a shared seed become the samples of one request.
Result<const SampleRequest*> ContinuousSampler::next(bool wait) {
  std::unique_lock lock(mutex_);
  while (taken_ == waiting_.size()) {
    if (setup_.policy.cancelled()) return failure(Code::kCancelled, "cancelled");
    if (over_ || !wait) return nullptr;
    changed_.wait_for(lock, kLookForStop);
  }
  const EpisodeRequest& first = waiting_[taken_].request;
  const std::uint64_t shared = setup_.shares_prompts ? first.shared_seed : 0;
  Asked& asked = asked_.emplace_back(Asked{first.request, {}});
  if (shared != 0) asked.request.seed = shared;
  asked.request.deadline_ns = setup_.deadline_ns();
  do {
    meter_.taken(waiting_[taken_].since);
    asked.waiting.push_back(taken_++);
  } while (shared != 0 && taken_ < waiting_.size() &&
           waiting_[taken_].request.shared_seed == shared);
  asked.request.samples = static_cast<std::uint32_t>(asked.waiting.size());
  return &asked.request;  // stays where it is, as others are added to the deque
}

void ContinuousSampler::reply(std::size_t waiting, Reply reply) {
  Resume resume;
  {
    const std::lock_guard lock(mutex_);
    resume = std::exchange(waiting_[waiting].resume, nullptr);
  }
  if (!resume) return;
  meter_.answered();
  resume(std::move(reply));
}

void ContinuousSampler::lose(std::size_t request, const Error& why) {
  std::unique_lock lock(mutex_);
  const std::vector<std::size_t> waiting = asked_[request].waiting;
  lock.unlock();
  for (const std::size_t i : waiting) reply(i, {{}, why});
}

void ContinuousSampler::end(const Error& error) {
  const std::lock_guard lock(mutex_);
  status_ = failure(error);
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (!waiting_[i].resume) continue;
    if (i < taken_) meter_.answered();
    const Resume resume = std::exchange(waiting_[i].resume, nullptr);
    loses_turns(error) ? resume(Reply{{}, error}) : resume(failure(error));
  }
}

}  // namespace krl
