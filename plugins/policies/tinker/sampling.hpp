// Answers the host's requests with a service's samples: many requests in flight, each of which may
// fail independently. Thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "plugins/policies/tinker/sampled_answer.hpp"
#include "plugins/policies/tinker/session.hpp"

namespace krl::tinker {

struct SamplingOptions {
  std::int64_t context = 0;     // tokens of a prompt and its answer together; 0 = not known
  std::int64_t vocabulary = 0;  // ids are below
  std::size_t in_flight = 256;
  http::Duration timeout = std::chrono::minutes(30);  // limit of a request, with all its tries
};

class Sampling {
 public:
  // The sampler that a request which begins now is to use.
  using CurrentSampler = std::function<std::shared_ptr<Sampler>()>;

  // All three outlive this.
  Sampling(Session& session, const policies::ChatTokenizer& chat, const SamplingOptions& options,
           CurrentSampler sampler);

  void sample(const Requests& requests, const SampleSink& sink, const Context& context);
  void sample_stream(const RequestSource& source, const SampleSink& sink, const Context& context);

 private:
  class Call;
  Session& session_;
  const policies::ChatTokenizer& chat_;
  const SamplingOptions options_;
  const CurrentSampler sampler_;
};

}  // namespace krl::tinker
