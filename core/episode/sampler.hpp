// Passes the requests of live episodes to the policy, and measures how well they use it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/base/result.hpp"
#include "core/episode/coroutine.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl::core {

// Measures how busy a policy was.
struct SamplerLoad {
  double answers_in_flight = 0;  // mean, over the time in which it worked on any
  double wait_seconds = 0;       // mean, from an episode's request until the policy took it up
};

// Measures a SamplerLoad. Thread-safe.
class LoadMeter {
 public:
  using Clock = std::chrono::steady_clock;

  // The policy took up a request of an episode that has waited since `asked`.
  void taken(Clock::time_point asked);
  void answered();
  SamplerLoad load() const;

 private:
  void advance(Clock::time_point now);

  mutable std::mutex mutex_;
  Clock::time_point last_;
  int in_flight_ = 0, taken_ = 0;
  double busy_seconds_ = 0, answer_seconds_ = 0, wait_seconds_ = 0;
};

// One episode's request, for one sample.
struct EpisodeRequest {
  SampleRequest request;
  // Requests with the same one, other than 0, have the same prompt, and may be answered as the
  // samples of one request with this seed.
  std::uint64_t shared_seed = 0;
};

// The outcome of a request.
struct Reply {
  Answer answer;
  std::optional<Error> lost;  // why there is no answer
};

// True if an error of a call concerns its requests alone: their turns are lost, the run continues.
bool loses_turns(const Error& error);

// The policy that answers, and how it is asked.
struct SamplingSetup {
  const Policy& policy;
  // True if requests with a shared seed are answered as one.
  bool shares_prompts = false;
  std::int64_t answer_timeout_s = 0;  // counted from when the policy starts on a request; 0 = none

  // The deadline of a request that the policy takes up now.
  std::int64_t deadline_ns() const;
};

// Used on the thread of the rollout's io_context only.
class Sampler {
 public:
  using OnAnswered = std::function<void()>;  // called on that thread, after each reply

  Sampler(boost::asio::io_context& io, boost::asio::thread_pool& pool, SamplingSetup setup,
          OnAnswered on_answered)
      : io_(io), pool_(pool), setup_(std::move(setup)), on_answered_(std::move(on_answered)) {}
  virtual ~Sampler() = default;

  // An episode joins before it samples for the first time and leaves after its last turn.
  void join() { ++live_; }
  void leave();

  // The reply to `request`; the episode waits for it. `order`: the episode's place among the
  // others. An error is the run's.
  Result<Reply> sample(EpisodeRequest request, std::size_t order, Yield yield);

  const LoadMeter& meter() const { return meter_; }
  // The metrics that the policy reported of its calls. After the last reply.
  const Metrics& metrics() const { return metrics_; }

 protected:
  // An episode that waits for the reply to its request.
  struct Waiting {
    EpisodeRequest request;
    std::size_t order;
    LoadMeter::Clock::time_point since;
    std::function<void(Result<Reply>)> resume;  // once, from any thread
  };
  // A request to the policy, and the waiting turns that its samples are for.
  struct Asked {
    SampleRequest request;
    std::vector<std::size_t> waiting;
  };

  virtual void enqueue(Waiting waiting) = 0;
  virtual void left() = 0;  // an episode has

  // The reply to a request whose call has failed.
  static Result<Reply> reply_for(const Error& error);

  boost::asio::io_context& io_;
  boost::asio::thread_pool& pool_;
  const SamplingSetup setup_;
  std::size_t live_ = 0;  // episodes
  LoadMeter meter_;
  Metrics metrics_;

 private:
  const OnAnswered on_answered_;
};

// Makes a sampler that calls the policy on threads of `pool`; it may keep one of them until the
// last episode left.
std::unique_ptr<Sampler> make_sampler(Batching batching, boost::asio::io_context& io,
                                      boost::asio::thread_pool& pool, const SamplingSetup& setup,
                                      Sampler::OnAnswered on_answered);

// The two of them. An episode of a wave continues when it is answered, or when the whole wave is.
enum class WaveContinues { kWhenAnswered, kWithTheWave };
std::unique_ptr<Sampler> make_wave_sampler(boost::asio::io_context& io,
                                           boost::asio::thread_pool& pool,
                                           const SamplingSetup& setup,
                                           Sampler::OnAnswered on_answered,
                                           WaveContinues continues);
std::unique_ptr<Sampler> make_continuous_sampler(boost::asio::io_context& io,
                                                 boost::asio::thread_pool& pool,
                                                 const SamplingSetup& setup,
                                                 Sampler::OnAnswered on_answered);

}  // namespace krl::core
