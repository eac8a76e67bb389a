// Passes every request of an episode on at once: the policy takes it up beside those it is
// answering already, as soon as it has room. What shares a batch depends on when evaluations
// finish; the seeds do not, so a policy whose answers depend on their seeds alone gives the same
// episodes as in waves.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "core/episode/sampler.hpp"

namespace krl {

// REQUIRES: Policy::can_stream. The policy is called once, from the first request until every
// episode has left.
class ContinuousSampler final : public Sampler {
 public:
  ContinuousSampler(boost::asio::io_context& io, boost::asio::thread_pool& pool,
                    const Policy& policy, Sampling sampling, OnAnswered on_answered);

  void join() override { ++live_; }
  void leave() override;
  // `order` does not matter.
  Result<Answer> sample(SampleRequest request, std::size_t order, Yield yield) override;

 private:
  using Resume = std::function<void(Result<Answer>)>;
  struct Asked {
    SampleRequest request;
    LoadMeter::Clock::time_point since;
    Resume resume;  // empty once it was answered
  };

  void enqueue(SampleRequest request, Resume resume);

  // On the policy's threads.
  void stream();
  Result<const SampleRequest*> next(bool wait);
  void answered(std::size_t index, Answer answer);
  void fail_the_rest(const Error& error);

  boost::asio::io_context& io_;
  boost::asio::thread_pool& pool_;
  const Policy& policy_;
  const Sampling sampling_;
  const OnAnswered on_answered_;
  std::size_t live_ = 0;
  bool started_ = false;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Asked> asked_;  // all, in the order in which the policy takes them
  std::size_t taken_ = 0;    // of them
  bool over_ = false;        // every episode has left
  Status status_;            // an error once the policy's call has failed
};

}  // namespace krl
