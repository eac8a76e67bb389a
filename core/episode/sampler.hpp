// Passes the requests of live episodes to the policy, and measures how well they use it.
#pragma once

#include <chrono>
#include <deque>
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
  // Returns the load since the last call. REQUIRES: the policy works on nothing.
  SamplerLoad take();

 private:
  struct Sums {
    int taken = 0;
    double busy_seconds = 0, answer_seconds = 0, wait_seconds = 0;
  };

  void advance(Clock::time_point now);

  std::mutex mutex_;
  Clock::time_point last_;
  int in_flight_ = 0;
  Sums sums_;
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

// The policy that answers, how it is asked, and where its work is counted.
struct SamplingSetup {
  const Policy& policy;
  // True if requests with a shared seed are answered as one.
  bool shares_prompts;
  std::int64_t answer_timeout_s;  // counted from when the policy starts on a request; 0 = none
  LoadMeter& meter;
  Metrics& metrics;  // that the policy reports of its calls; complete when the last has ended
};

// An episode that waits for the reply to its request.
struct Waiting {
  EpisodeRequest request;
  std::size_t order;  // the episode's place among the others
  LoadMeter::Clock::time_point since;
  std::function<void(Result<Reply>)> resume;  // once, from any thread
};

// Requests of episodes on their way through one call of the policy. Thread-safe.
class RequestQueue {
 public:
  explicit RequestQueue(const SamplingSetup& setup);

  void add(Waiting waiting);
  // Returns the next request, which lives as long as the queue; null if there is none now.
  // Neighbours with a shared seed become the samples of one request.
  const SampleRequest* take();
  // Takes the answers of the call.
  const AnswerSink& sink() const { return sink_; }
  // The call is over: every request without a reply gets this one, and so do those that come later.
  void end(const Error& error);

 private:
  struct Taken {
    SampleRequest request;
    std::vector<std::size_t> waiting;  // a sample for each of them
  };

  void reply(std::size_t waiting, Reply reply);
  void lose(std::size_t request, const Error& why);

  const SamplingSetup& setup_;
  const AnswerSink sink_;
  std::mutex mutex_;             // guards the members below
  std::deque<Waiting> waiting_;  // all; without `resume` once there was a reply
  std::size_t next_ = 0;         // the first that was not taken
  std::deque<Taken> taken_;
  Status status_;  // an error once the call is over
};

// Passes requests to the policy on threads of `pool`. Used on the thread of `io` only.
class Sampler {
 public:
  using OnAnswered = std::function<void()>;  // called on that thread, after each reply

  Sampler(boost::asio::io_context& io, boost::asio::thread_pool& pool, const SamplingSetup& setup,
          OnAnswered on_answered)
      : io_(io), pool_(pool), setup_(setup), on_answered_(std::move(on_answered)) {}
  virtual ~Sampler() = default;

  // An episode joins before it samples for the first time and leaves after its last turn.
  void join() { ++live_; }
  void leave();

  // The reply to `request`; the episode waits for it. `order`: the episode's place among the
  // others. An error is the run's.
  Result<Reply> sample(EpisodeRequest request, std::size_t order, Yield yield);

 protected:
  virtual void enqueue(Waiting waiting) = 0;
  virtual void left() = 0;  // an episode has

  boost::asio::io_context& io_;
  boost::asio::thread_pool& pool_;
  const SamplingSetup setup_;
  std::size_t live_ = 0;  // episodes

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
