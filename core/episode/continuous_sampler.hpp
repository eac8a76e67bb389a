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

}  // namespace krl
