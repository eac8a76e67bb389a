// Gathers the requests of live episodes into batches: a wave goes to the policy once every live
// episode waits for an answer. So the batches, and with them the results, do not depend on the
// order in which evaluations finish. An episode continues when it is answered, or when the whole
// wave is: then policy and evaluator take turns, and can share a GPU.
#include <algorithm>
#include <memory>
#include <vector>

#include "core/episode/sampler.hpp"

namespace krl::core {
namespace {

// The policy is called for one wave at a time.
class WaveSampler final : public Sampler {
 public:
  WaveSampler(boost::asio::io_context& io, boost::asio::thread_pool& pool,
              const SamplingSetup& setup, OnAnswered on_answered, WaveContinues continues)
      : Sampler(io, pool, setup, std::move(on_answered)), continues_(continues) {}

 private:
  void enqueue(Waiting waiting) override {
    waiting_.push_back(std::move(waiting));
    dispatch_when_complete();
  }
  void left() override { dispatch_when_complete(); }

  void dispatch_when_complete() {
    if (waiting_.empty() || waiting_.size() != live_) return;
    std::ranges::sort(waiting_, {}, &Waiting::order);
    auto wave = std::make_shared<std::vector<Waiting>>(std::exchange(waiting_, {}));
    boost::asio::post(pool_, [this, wave] { answer(*wave); });
  }

  // Runs on a thread of the pool.
  void answer(std::vector<Waiting>& wave) const {
    std::vector<std::function<void()>> held;
    RequestQueue queue(setup_);
    for (Waiting& waiting : wave) {
      if (continues_ == WaveContinues::kWithTheWave) {
        waiting.resume = [&held, resume = std::move(waiting.resume)](Result<Reply> reply) {
          held.emplace_back([resume, reply = std::move(reply)] { resume(reply); });
        };
      }
      queue.add(std::move(waiting));
    }
    std::vector<SampleRequest> requests;
    while (const SampleRequest* request = queue.take()) requests.push_back(*request);
    const Status status = setup_.policy.sample(requests, queue.sink(), setup_.metrics);
    queue.end(status ? Error{Code::kInternal, "no answer"} : status.error());
    for (const auto& resume : held) resume();
  }

  const WaveContinues continues_;
  std::vector<Waiting> waiting_;
};

}  // namespace

std::unique_ptr<Sampler> make_wave_sampler(boost::asio::io_context& io,
                                           boost::asio::thread_pool& pool,
                                           const SamplingSetup& setup,
                                           Sampler::OnAnswered on_answered,
                                           WaveContinues continues) {
  return std::make_unique<WaveSampler>(io, pool, setup, std::move(on_answered), continues);
}

}  // namespace krl::core
