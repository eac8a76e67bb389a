// What a call that samples passes to a policy and takes from it: requests in C's terms, and the
// sinks behind which every answer is checked. Each object lives as long as its call; where it is
// not said otherwise, one thread.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/policy.hpp"
#include "core/plugin/rows.hpp"

namespace krl {

// Borrow the texts of the prompt and of the sampling.
Rows<krl_message> messages_of(const Prompt& prompt);

class SamplingView {
 public:
  explicit SamplingView(const Sampling& sampling);
  SamplingView(const SamplingView&) = delete;
  SamplingView& operator=(const SamplingView&) = delete;

  // As it is for one request. Lives no longer than this.
  krl_sampling of(const SampleRequest& request) const;

 private:
  std::vector<krl_str> stop_;
  krl_sampling c_;
};

// A request in C's terms. Borrows all three.
krl_request request_view(const SampleRequest& request, const Rows<krl_message>& messages,
                         const krl_sampling& sampling);

// What the samples of a call must keep to.
struct SampleBounds {
  std::int64_t vocabulary = 0;      // 0 = unknown
  std::uint64_t least_version = 0;  // versions never fall
  bool has_tokens = false;          // a finished answer has at least its end token
};

// Receives samples, checks each against the boundary's rules and hands it on. Thread-safe.
class SampleReceiver {
 public:
  // `who` begins what is said of a lost request: "policy 'x' (sample)".
  SampleReceiver(const AnswerSink& sink, std::string who, const SampleBounds& bounds);

  const krl_sample_sink* c() const { return &c_; }
  // One more request may be answered, by as many samples as it wants, until its deadline and a
  // grace; what comes later is lost.
  void expect(const SampleRequest& request);
  // Of the samples, and of the bounds.
  std::uint64_t newest_version() const;
  // What was wrong with what was put; empty if nothing was.
  std::string complaint() const;
  // What is still missing, "it gave no sample for request 2 of 3"; empty if nothing is.
  std::string missing() const;

 private:
  // The samples of one request.
  struct Expected {
    std::vector<bool> answered;
    std::int64_t deadline_ns = 0;
    bool failed = false;  // those that are missing will not come
    bool late = false;    // or came too late
  };

  static krl_status put(const krl_sample_sink* sink, const krl_sample* sample);
  static krl_status fail(const krl_sample_sink* sink, std::uint32_t request, krl_status status,
                         krl_str why);
  krl_status receive(const krl_sample& sample);
  krl_status lose(std::uint32_t request, Error why);
  void tell_lost(std::uint32_t request, Error why) const;
  // Keeps a complaint, if `why` is one.
  bool accept(std::string why);
  // What is wrong with a sample, or with the failure of a request; empty if nothing is.
  std::string check_bounds(const krl_sample& sample) const;
  std::string check_place(std::uint32_t request, std::uint32_t sample) const;
  std::string check_failure(std::uint32_t request) const;

  mutable std::mutex mutex_;
  std::vector<Expected> expected_;  // by request
  std::string complaint_;
  const AnswerSink& sink_;
  const std::string who_;
  const SampleBounds bounds_;
  std::uint64_t newest_version_;
  krl_sample_sink c_;
};

// The source of a call of sample_stream. Thread-safe as `next` is.
class RequestFeed {
 public:
  RequestFeed(const Sampling& sampling, const Policy::NextRequest& next, SampleReceiver& receiver);

  const krl_request_source* c() const { return &source_; }
  // Whether the policy was told that no more requests will come.
  bool ended() const { return ended_; }

 private:
  struct Taken {
    Rows<krl_message> messages;
    krl_sampling sampling;
    krl_request request;
  };

  static krl_status give_next(const krl_request_source* source, std::int32_t wait,
                              const krl_request** out);
  krl_status take(bool wait, const krl_request** out);

  const SamplingView sampling_;
  const Policy::NextRequest& next_;
  SampleReceiver& receiver_;
  std::deque<Taken> taken_;  // borrowed by the policy until its call returns
  bool ended_ = false;
  krl_request_source source_;
};

}  // namespace krl
