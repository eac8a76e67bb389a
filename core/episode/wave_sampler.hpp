// Gathers the requests of live episodes into batches: a wave goes to the policy once every live
// episode waits for an answer. So the batches, and with them the results, do not depend on the
// order in which evaluations finish.
#pragma once

#include <functional>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/suspend.hpp"
#include "core/plugin/policy.hpp"

namespace krl {

// Used on the thread of `io` only. The policy is called on a thread of `pool`, one wave at a time.
class WaveSampler {
 public:
  using OnAnswered = std::function<void()>;  // on the thread of `io`, after each answer

  WaveSampler(boost::asio::io_context& io, boost::asio::thread_pool& pool, const Policy& policy,
              Sampling sampling, OnAnswered on_answered);

  // An episode joins before it samples for the first time and leaves after its last turn.
  void join() { ++live_; }
  void leave();

  // The answer to `request`; the episode waits until its wave was sampled. `order`: the episode's
  // place in a wave.
  Result<Answer> sample(SampleRequest request, std::size_t order, Yield yield);

 private:
  using Resume = std::function<void(Result<Answer>)>;
  struct Waiting {
    SampleRequest request;
    std::size_t order;
    Resume resume;
  };

  void dispatch_when_complete();
  void dispatch();

  boost::asio::io_context& io_;
  boost::asio::thread_pool& pool_;
  const Policy& policy_;
  const Sampling sampling_;
  const OnAnswered on_answered_;
  std::size_t live_ = 0;
  std::vector<Waiting> waiting_;
};

}  // namespace krl
