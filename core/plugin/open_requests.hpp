// The requests of a call that samples and may have to be made more than once: what is still missing
// of them, under numbers that stay the same from try to try. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "core/plugin/policy.hpp"

namespace krl {

class OpenRequests {
 public:
  // `sink` is told of each sample once, and of each request that is lost, by the number in which it
  // was added. Both outlive the object, as do the requests.
  explicit OpenRequests(const AnswerSink& sink);
  OpenRequests(const OpenRequests&) = delete;
  OpenRequests& operator=(const OpenRequests&) = delete;

  // One more request; of a try that is under way, its next one.
  void add(const SampleRequest& request);
  // Begins a try, whose requests are those that miss a sample, in their order.
  std::vector<const SampleRequest*> begin_try();
  // Whether the try has brought anything.
  bool progressed() const;
  // The sink of the try, which counts its requests from 0. A sample that an earlier try brought is
  // dropped: it is the same.
  const AnswerSink& sink() const { return of_try_; }

 private:
  struct Open {
    const SampleRequest* request;
    std::vector<bool> answered;
    bool lost = false;
  };

  void answered(std::size_t request, std::uint32_t sample, Answer answer);
  void lost(std::size_t request, Error why);

  mutable std::mutex mutex_;
  std::deque<Open> requests_;
  std::vector<std::size_t> asked_;  // by the try
  bool progressed_ = false;
  const AnswerSink& sink_;
  const AnswerSink of_try_;
};

}  // namespace krl
