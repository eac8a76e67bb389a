// One call of sample() or sample_stream(): each request becomes one or more exchanges, each a
// coroutine of the loop; the thread of the call puts their results into the host's sink.
//
// Used only by that thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <kernelrl/policy.hpp>
#include <mutex>

#include "plugins/policies/openai/engine.hpp"
#include "plugins/policies/openai/sample_check.hpp"

namespace krl::openai {

class SamplingCall {
 public:
  // Keeps references.
  SamplingCall(Engine& engine, const SampleSink& sink, const Context& context);
  // Cancels requests in progress, and waits for them.
  ~SamplingCall();
  SamplingCall(const SamplingCall&) = delete;
  SamplingCall& operator=(const SamplingCall&) = delete;

  // Requests count from 0 in the order of adding.
  void add(const Request& request);

  bool is_idle() const { return under_way_ == 0; }
  bool has_room() const { return under_way_ < engine_.capacity(); }

  // Puts what there is into the sink; if there is nothing, waits for it, a few milliseconds at
  // most. Throws krl::Failure if the call is cancelled, or if no request can be answered.
  void deliver();

  // The metrics of the whole call.
  void report() const;

 private:
  struct Open;  // a request that is being answered
  struct Finished {
    std::shared_ptr<Open> open;
    std::uint32_t index = 0;
    Sample sample;
    std::uint64_t version = 0;
  };
  struct Ended {  // a part
    std::shared_ptr<Open> open;
    std::optional<Failure> failure;
  };

  std::shared_ptr<Open> opened(const Request& request);
  void answer(const std::shared_ptr<Open>& open, std::vector<std::uint32_t> samples);
  void ask(const std::shared_ptr<Open>& open, std::vector<std::uint32_t>& samples, Yield yield);
  void finish(const std::shared_ptr<Open>& open, std::uint32_t index, Sample sample,
              std::uint64_t version);
  void put(const Finished& finished);
  void end(const Ended& part);

  Engine& engine_;
  const SampleSink& sink_;
  const Context& context_;
  std::uint32_t requests_ = 0;
  std::size_t under_way_ = 0;  // parts

  std::atomic<bool> cancelled_{false};
  std::atomic<std::uint64_t> retries_{0}, prompt_tokens_{0}, cached_tokens_{0}, answer_tokens_{0};

  std::mutex mutex_;  // guards the members below, which the loop's thread fills
  std::condition_variable changed_;
  std::deque<Finished> finished_;
  std::deque<Ended> ended_;
};

}  // namespace krl::openai
