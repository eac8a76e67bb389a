// Passes every request of an episode on at once: the policy starts on it alongside those that it is
// answering already, as soon as it has room. The contents of a batch depend on when evaluations
// finish; the seeds do not, so a policy whose answers depend on their seeds alone produces the same
// episodes as in waves.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

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
  void enqueue(Waiting waiting) override {
    {
      const std::lock_guard lock(mutex_);
      queue_.add(std::move(waiting));  // the order does not matter
    }
    changed_.notify_one();
    if (std::exchange(started_, true)) return;
    // After the other episodes that start now, so that the policy's first batch is a full one.
    boost::asio::post(io_, [this] { boost::asio::post(pool_, [this] { stream(); }); });
  }

  void left() override {
    if (live_ > 0) return;
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_one();
  }

  // Runs on the policy's threads, as does `next`.
  void stream() {
    const Status status = setup_.policy.sample_stream([this](bool wait) { return next(wait); },
                                                      queue_.sink(), setup_.metrics);
    if (!status) queue_.end(status.error());
  }

  Result<const SampleRequest*> next(bool wait) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (const SampleRequest* request = queue_.take()) return request;
      if (setup_.policy.cancelled()) return failure(Code::kCancelled, "cancelled");
      if (over_ || !wait) return nullptr;
      changed_.wait_for(lock, kLookForStop);
    }
  }

  RequestQueue queue_{setup_};
  bool started_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  // every episode has left; guarded by the mutex
};

}  // namespace

std::unique_ptr<Sampler> make_continuous_sampler(boost::asio::io_context& io,
                                                 boost::asio::thread_pool& pool,
                                                 const SamplingSetup& setup,
                                                 Sampler::OnAnswered on_answered) {
  return std::make_unique<ContinuousSampler>(io, pool, setup, std::move(on_answered));
}

}  // namespace krl::core
