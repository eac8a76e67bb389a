// Passes every request of an episode on at once: the policy starts on it alongside those that it is
// answering already, as soon as it has room. The contents of a batch depend on when evaluations
// finish; the seeds do not, so a policy whose answers depend on their seeds alone produces the same
// episodes as in waves.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "core/episode/sampler.hpp"

namespace krl::core {
namespace {

// Nobody wakes a policy that waits when the user stops the run.
constexpr std::chrono::milliseconds kLookForStop{50};

// REQUIRES: Policy::can_stream. The policy is called once, from the first request until every
// episode has left.
class ContinuousSampler final : public Sampler {
 public:
  using Sampler::Sampler;

 private:
  void enqueue(Waiting waiting) override;  // the order does not matter
  void left() override;

  // Runs on the policy's threads.
  void stream();
  Result<const SampleRequest*> next(bool wait);
  void reply(std::size_t waiting, Reply reply);
  void lose(std::size_t request, const Error& why);
  void end(const Error& error);

  bool started_ = false;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  // All, in the order in which the policy takes them; without `resume` once there was a reply.
  std::deque<Waiting> waiting_;
  std::size_t taken_ = 0;    // number of requests taken
  std::deque<Asked> asked_;  // the requests that were taken
  bool over_ = false;        // every episode has left
  Status status_;            // an error once the policy's call has failed
};

void ContinuousSampler::enqueue(Waiting waiting) {
  {
    const std::lock_guard lock(mutex_);
    if (!status_) return waiting.resume(reply_for(status_.error()));
    waiting_.push_back(std::move(waiting));
  }
  changed_.notify_one();
  if (std::exchange(started_, true)) return;
  // After the other episodes that start now, so that the policy's first batch is a full one.
  boost::asio::post(io_, [this] { boost::asio::post(pool_, [this] { stream(); }); });
}

void ContinuousSampler::left() {
  if (live_ > 0) return;
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
  const Status status =
      setup_.policy.sample_stream([this](bool wait) { return next(wait); }, sink, metrics_);
  if (!status) end(status.error());
}

// Requests that arrived together with a shared seed become the samples of one request.
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
  asked.request.n_samples = static_cast<std::uint32_t>(asked.waiting.size());
  return &asked.request;  // stays where it is, as others are added to the deque
}

void ContinuousSampler::reply(std::size_t waiting, Reply reply) {
  std::unique_lock lock(mutex_);
  const auto resume = std::exchange(waiting_[waiting].resume, nullptr);
  lock.unlock();
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
    std::exchange(waiting_[i].resume, nullptr)(reply_for(error));
  }
}

}  // namespace

std::unique_ptr<Sampler> make_continuous_sampler(boost::asio::io_context& io,
                                                 boost::asio::thread_pool& pool,
                                                 const SamplingSetup& setup,
                                                 Sampler::OnAnswered on_answered) {
  return std::make_unique<ContinuousSampler>(io, pool, setup, std::move(on_answered));
}

}  // namespace krl::core
