// Gathers the requests of live episodes into batches: a wave goes to the policy once every live
// episode waits for an answer. So the batches, and with them the results, do not depend on the
// order in which evaluations finish. An episode goes on when it is answered, or when the whole wave
// is: then policy and evaluator take turns, and can share a GPU.
#pragma once

#include <functional>
#include <vector>

#include "core/episode/sampler.hpp"

namespace krl {

// The policy is called for one wave at a time.
class WaveSampler final : public Sampler {
 public:
  enum class GoOn { kWhenAnswered, kWithTheWave };

  WaveSampler(boost::asio::io_context& io, boost::asio::thread_pool& pool,
              const SamplingSetup& setup, OnAnswered on_answered, GoOn go_on = GoOn::kWhenAnswered);

  void join() override { ++live_; }
  void leave() override;
  // `order`: the episode's place in its wave.
  Result<Reply> sample(EpisodeRequest request, std::size_t order, Yield yield) override;

 private:
  using Resume = std::function<void(Result<Reply>)>;
  struct Waiting {
    EpisodeRequest request;
    std::size_t order;
    LoadMeter::Clock::time_point since;
    Resume resume;
  };
  // One request of a wave, and which of those that wait its samples are for.
  struct Asked {
    SampleRequest request;
    std::vector<std::size_t> waiting;
  };

  void dispatch_when_complete();
  void dispatch();
  std::vector<Asked> requests_of(std::vector<Waiting>& wave) const;
  void answer(std::vector<Waiting>& wave);

  boost::asio::io_context& io_;
  boost::asio::thread_pool& pool_;
  const SamplingSetup setup_;
  const OnAnswered on_answered_;
  const GoOn go_on_;
  std::size_t live_ = 0;
  std::vector<Waiting> waiting_;
};

}  // namespace krl
