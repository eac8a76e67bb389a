// The arguments and results of calls to a policy, in the boundary's terms.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin/policy.hpp"
#include "core/plugin/views.hpp"

namespace krl::core {

// The limits of the samples of a call.
struct SampleBounds {
  std::int64_t vocabulary = 0;      // 0 = unknown
  std::uint64_t least_version = 0;  // versions never fall
  bool has_tokens = false;          // a finished answer has at least its end token
};

// Receives the samples of a call that may have to be made more than once: checks each against the
// boundary's rules, and hands it on under a number of its request that stays the same from try to
// try. Thread-safe.
class SampleReceiver {
 public:
  // `sink` is told of each sample once, and of each request that is lost. `who` begins messages
  // about a lost request: "policy 'x' (sample)". The sink outlives the object, as do the requests.
  SampleReceiver(const AnswerSink& sink, std::string who);
  SampleReceiver(const SampleReceiver&) = delete;
  SampleReceiver& operator=(const SampleReceiver&) = delete;

  const krl_sample_sink* c() const { return &c_; }

  void add(const SampleRequest& request);
  // Begins a try with the requests that miss a sample, in their order.
  std::vector<const SampleRequest*> begin_try(const SampleBounds& bounds);
  // The next request of the try, a new one behind the last of those, may be answered: by as many
  // samples as it asks for, until its deadline and a grace; later samples are lost.
  void expect(const SampleRequest& request);

  // True if the try has brought anything.
  bool progressed() const;
  // Returns the newest version among the samples of the try and its bounds.
  std::uint64_t newest_version() const;
  // Returns the first error in the data passed in the try; empty if there is none.
  std::string complaint() const;
  // The first missing result, "it gave no sample for request 2 of 3"; empty if none is missing.
  std::string missing() const;

 private:
  // The samples of one request.
  struct Open {
    const SampleRequest* request;
    std::vector<bool> answered, in_try;  // in any try, in this one
    bool failed = false;                 // the missing samples will not come
    bool late = false;                   // or came too late
  };

  static krl_status put(const krl_sample_sink* sink, const krl_sample* sample);
  static krl_status fail(const krl_sample_sink* sink, std::uint32_t request, krl_status status,
                         krl_str why);
  krl_status receive(const krl_sample* given);
  krl_status lose(std::uint32_t request, Error why);
  void tell_lost(std::size_t number, Error why) const;
  // Keeps a complaint, if `why` is one.
  bool accept(std::string why);
  // Return the error in a sample, or in the failure of a request; empty if there is none.
  std::string check_bounds(const krl_sample& sample) const;
  std::string check_place(std::uint32_t request, std::uint32_t sample) const;
  std::string check_failure(std::uint32_t request) const;

  const AnswerSink& sink_;
  const std::string who_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<Open> requests_;
  std::vector<std::size_t> numbers_;  // numbers of the try's requests
  std::size_t asked_ = 0;             // how many of them the policy has
  bool progressed_ = false;
  std::string complaint_;
  SampleBounds bounds_;
  std::uint64_t newest_version_ = 0;
  krl_sample_sink c_;
};

// The source of a call of sample_stream. Thread-safe as `next` is.
class RequestFeed {
 public:
  RequestFeed(const Policy::NextRequest& next, SampleReceiver& receiver);

  const krl_request_source* c() const { return &source_; }
  // True if the policy was told that no more requests will come.
  bool ended() const { return ended_; }

 private:
  static krl_status give_next(const krl_request_source* source, std::int32_t wait,
                              const krl_request** out);
  krl_status take(bool wait, const krl_request** out);

  const Policy::NextRequest& next_;
  SampleReceiver& receiver_;
  CViews<SampleRequest> taken_;  // borrowed by the policy until its call returns
  bool ended_ = false;
  krl_request_source source_;
};

// Receives a number for every token of every example, and checks them. `Sink` is krl_critic_sink or
// krl_logprob_sink.
template <class Sink>
class NumberReceiver {
 public:
  // `what`: one of the numbers, "value".
  NumberReceiver(const std::vector<Example>& examples, std::string what)
      : examples_(examples),
        what_(std::move(what)),
        numbers_(examples.size()),
        sink_{sizeof(Sink), 0, this, put} {}
  NumberReceiver(const NumberReceiver&) = delete;
  NumberReceiver& operator=(const NumberReceiver&) = delete;

  const Sink* c() const { return &sink_; }

  // Returns the first error in the data passed; empty if there is none.
  const std::string& complaint() const { return complaint_; }
  // The first missing result; empty if none is missing.
  std::string missing() const {
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i].size() != examples_[i].tokens.size())
        return fmt::format("it gave no {}s for example {} of {}", what_, i, numbers_.size());
    }
    return {};
  }

  std::vector<std::vector<float>> take() && { return std::move(numbers_); }

 private:
  static krl_status put(const Sink* sink, std::size_t example, krl_f32s numbers) {
    return static_cast<NumberReceiver*>(sink->ctx)->receive(example, numbers);
  }

  krl_status receive(std::size_t example, krl_f32s numbers) {
    if (example >= examples_.size()) {
      complaint_ = fmt::format("{}s of example {}, of {}", what_, example, examples_.size());
    } else if (numbers.size != examples_[example].tokens.size()) {
      complaint_ = fmt::format("{} {}s for the {} tokens of example {}", numbers.size, what_,
                               examples_[example].tokens.size(), example);
    } else if (!std::all_of(numbers.data, numbers.data + numbers.size,
                            [](float v) { return std::isfinite(v); })) {
      complaint_ = fmt::format("a {} of example {} is not finite", what_, example);
    }
    if (!complaint_.empty()) return KRL_INVALID_ARGUMENT;
    numbers_[example].assign(numbers.data, numbers.data + numbers.size);
    return KRL_OK;
  }

  const std::vector<Example>& examples_;
  const std::string what_;
  std::vector<std::vector<float>> numbers_;
  std::string complaint_;
  Sink sink_;
};

}  // namespace krl::core
