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
  void enqueue(Waiting waiting) override;  // its order is the place in the wave
  void left() override { dispatch_when_complete(); }
  void dispatch_when_complete();
  void dispatch();
  std::vector<Asked> requests_of(std::vector<Waiting>& wave) const;
  void answer(std::vector<Waiting>& wave);

  const WaveContinues continues_;
  std::vector<Waiting> waiting_;
};

void WaveSampler::enqueue(Waiting waiting) {
  waiting_.push_back(std::move(waiting));
  dispatch_when_complete();
}

void WaveSampler::dispatch_when_complete() {
  if (!waiting_.empty() && waiting_.size() == live_) dispatch();
}

void WaveSampler::dispatch() {
  std::ranges::sort(waiting_, [](const Waiting& a, const Waiting& b) { return a.order < b.order; });
  auto wave = std::make_shared<std::vector<Waiting>>(std::move(waiting_));
  waiting_.clear();
  boost::asio::post(pool_, [this, wave] { answer(*wave); });
}

// Neighbours with a shared seed become the samples of one request.
std::vector<WaveSampler::Asked> WaveSampler::requests_of(std::vector<Waiting>& wave) const {
  std::vector<Asked> asked;
  std::uint64_t shared = 0;  // the seed of the last request
  for (std::size_t i = 0; i < wave.size(); ++i) {
    EpisodeRequest& r = wave[i].request;
    const std::uint64_t seed = setup_.shares_prompts ? r.shared_seed : 0;
    if (seed != 0 && seed == shared) {
      ++asked.back().request.n_samples;
    } else {
      asked.push_back({std::move(r.request), {}});
      if (seed != 0) asked.back().request.seed = seed;
    }
    asked.back().waiting.push_back(i);
    shared = seed;
  }
  return asked;
}

// Runs on a thread of the pool.
void WaveSampler::answer(std::vector<Waiting>& wave) {
  std::vector<Asked> asked = requests_of(wave);
  std::vector<SampleRequest> requests;
  requests.reserve(asked.size());
  for (Asked& a : asked) {
    a.request.deadline_ns = setup_.deadline_ns();
    requests.push_back(std::move(a.request));
  }
  for (const Waiting& w : wave) meter_.taken(w.since);
  std::vector<std::pair<std::size_t, Result<Reply>>> held;
  const auto resume = [&](std::size_t i, Result<Reply> reply) {
    std::exchange(wave[i].resume, nullptr)(std::move(reply));
  };
  const auto reply = [&](std::size_t i, Reply reply) {
    meter_.answered();
    if (continues_ == WaveContinues::kWhenAnswered) return resume(i, std::move(reply));
    held.emplace_back(i, std::move(reply));
  };
  std::vector<bool> replied(wave.size(), false);
  const AnswerSink sink{[&](std::size_t request, std::uint32_t sample, Answer answer) {
                          const std::size_t i = asked[request].waiting[sample];
                          replied[i] = true;
                          reply(i, {std::move(answer), std::nullopt});
                        },
                        [&](std::size_t request, const Error& why) {
                          for (const std::size_t i : asked[request].waiting) {
                            if (replied[i]) continue;
                            replied[i] = true;
                            reply(i, {{}, why});
                          }
                        }};
  const Status status = setup_.policy.sample(requests, sink, metrics_);
  const Error missing = status ? Error{Code::kInternal, "no answer"} : status.error();
  for (auto& [i, reply] : held) resume(i, std::move(reply));
  for (std::size_t i = 0; i < wave.size(); ++i) {  // requests that the policy left unanswered
    if (replied[i]) continue;
    meter_.answered();
    resume(i, reply_for(missing));
  }
}

}  // namespace

std::unique_ptr<Sampler> make_wave_sampler(boost::asio::io_context& io,
                                           boost::asio::thread_pool& pool,
                                           const SamplingSetup& setup,
                                           Sampler::OnAnswered on_answered,
                                           WaveContinues continues) {
  return std::make_unique<WaveSampler>(io, pool, setup, std::move(on_answered), continues);
}

}  // namespace krl::core
