#include "core/episode/continuous_sampler.hpp"

#include <chrono>
#include <utility>

namespace krl {
namespace {

// Nobody wakes a policy that waits when the user stops the run.
constexpr std::chrono::milliseconds kLookForStop{50};

}  // namespace

ContinuousSampler::ContinuousSampler(boost::asio::io_context& io, boost::asio::thread_pool& pool,
                                     const Policy& policy, Sampling sampling,
                                     OnAnswered on_answered)
    : io_(io),
      pool_(pool),
      policy_(policy),
      sampling_(std::move(sampling)),
      on_answered_(std::move(on_answered)) {}

Result<Answer> ContinuousSampler::sample(SampleRequest request, std::size_t /*order*/,
                                         Yield yield) {
  Result<Answer> answer = suspend<Result<Answer>>(
      io_, yield, [&](auto resume) { enqueue(std::move(request), std::move(resume)); });
  on_answered_();
  return answer;
}

void ContinuousSampler::enqueue(SampleRequest request, Resume resume) {
  {
    const std::lock_guard lock(mutex_);
    if (!status_) return resume(failure(status_.error()));
    asked_.push_back({std::move(request), LoadMeter::Clock::now(), std::move(resume)});
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
  const Status status = policy_.sample_stream(
      sampling_, [this](bool wait) { return next(wait); },
      [this](std::size_t index, Answer answer) { answered(index, std::move(answer)); });
  if (!status) fail_the_rest(status.error());
}

Result<const SampleRequest*> ContinuousSampler::next(bool wait) {
  std::unique_lock lock(mutex_);
  while (taken_ == asked_.size()) {
    if (policy_.cancelled()) return failure(Code::kCancelled, "cancelled");
    if (over_ || !wait) return nullptr;
    changed_.wait_for(lock, kLookForStop);
  }
  const Asked& asked = asked_[taken_++];  // stays where it is, as others are added to the deque
  meter_.taken(asked.since);
  return &asked.request;
}

void ContinuousSampler::answered(std::size_t index, Answer answer) {
  Resume resume;
  {
    const std::lock_guard lock(mutex_);
    resume = std::exchange(asked_[index].resume, nullptr);
  }
  meter_.answered();
  resume(std::move(answer));
}

void ContinuousSampler::fail_the_rest(const Error& error) {
  const std::lock_guard lock(mutex_);
  status_ = failure(error);
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (!asked_[i].resume) continue;
    if (i < taken_) meter_.answered();
    std::exchange(asked_[i].resume, nullptr)(failure(error));
  }
}

}  // namespace krl
