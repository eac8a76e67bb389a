// One sampling call: converts its requests for generation, and the results for the host. The only
// place that decides whether this model can answer a request. One thread.
#pragma once

#include <deque>
#include <kernelrl/policy.hpp>
#include <optional>
#include <vector>

#include "plugins/policies/libtorch/generation/text_generator.hpp"
#include "plugins/policies/libtorch/model/config.hpp"
#include "plugins/policies/tokenizer/chat_tokenizer.hpp"

namespace krl::libtorch {

using policies::ChatTokenizer;

class SamplingCall {
 public:
  // All of them outlive the call. `version`: of the weights that answer it.
  SamplingCall(const ChatTokenizer& chat, const ModelConfig& config, std::uint64_t version,
               const SampleSink& sink)
      : chat_(chat), config_(config), version_(version), sink_(sink) {}

  // Takes the host's next request, for the generator. Returns nothing if it cannot be answered: it
  // has then failed in the host's sink, and the others continue. Passes on the sink's exceptions.
  std::optional<GenerationRequest> take(const Request& request);

  // `sample.request` is the number of a request in the order of take(). Passes on the sink's
  // exceptions.
  void deliver(const GeneratedSample& sample) const;

 private:
  struct Taken {
    std::uint32_t number;                 // index in the host's call
    std::vector<TokenId> prompt, so_far;  // so_far: of the answer
    std::vector<std::string> stop;
  };

  GenerationRequest to_generation(const Request& request) const;
  std::string whole_text(const Taken& taken, const GeneratedSample& sample) const;

  const ChatTokenizer& chat_;
  const ModelConfig& config_;
  const std::uint64_t version_;
  const SampleSink& sink_;
  std::uint32_t requests_ = 0;  // requests of the host so far
  std::deque<Taken> taken_;
};

}  // namespace krl::libtorch
