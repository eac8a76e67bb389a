// Passes every request of an episode on at once: the policy takes it up beside those it is
// answering already, as soon as it has room. What shares a batch depends on when evaluations
// finish; the seeds do not, so a policy whose answers depend on their seeds alone gives the same
// episodes as in waves.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "core/episode/sampler.hpp"

namespace krl::core {
namespace {

// REQUIRES: Policy::can_stream. The policy is called once, from the first request until every
// episode has left.
class ContinuousSampler final : public Sampler {
 public:
  ContinuousSampler(boost::asio::io_context& io, boost::asio::thread_pool& pool,
                    const SamplingSetup& setup, OnAnswered on_answered);

  void join() override { ++live_; }
  void leave() override;
  // `order` does not matter.
  Result<Reply> sample(EpisodeRequest request, std::size_t order, Yield yield) override;

 private:
  using Resume = std::function<void(Result<Reply>)>;
  struct Waiting {
    EpisodeRequest request;
    LoadMeter::Clock::time_point since;
    Resume resume;  // empty once there was a reply
  };
  // A request that the policy has taken, and which of those that wait its samples are for.
  struct Asked {
    SampleRequest request;
    std::vector<std::size_t> waiting;
  };

  void enqueue(EpisodeRequest request, Resume resume);

  // On the policy's threads.
  void stream();
  Result<const SampleRequest*> next(bool wait);
  void reply(std::size_t waiting, Reply reply);
  void lose(std::size_t request, const Error& why);
  void end(const Error& error);

  boost::asio::io_context& io_;
  boost::asio::thread_pool& pool_;
  const SamplingSetup setup_;
  const OnAnswered on_answered_;
  std::size_t live_ = 0;
  bool started_ = false;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;  // all, in the order in which the policy takes them
  std::size_t taken_ = 0;        // of them
  std::deque<Asked> asked_;      // of those that were taken
  bool over_ = false;            // every episode has left
  Status status_;                // an error once the policy's call has failed
};

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

}  // namespace

std::unique_ptr<Sampler> make_continuous_sampler(boost::asio::io_context& io,
                                                 boost::asio::thread_pool& pool,
                                                 const SamplingSetup& setup,
                                                 Sampler::OnAnswered on_answered) {
  return std::make_unique<ContinuousSampler>(io, pool, setup, std::move(on_answered));
}

}  // namespace krl::core
