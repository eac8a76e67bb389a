// The requests and results of generation, for any device.
#pragma once

#include <cstdint>
#include <functional>
#include <kernelrl/values.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/policies/libtorch/generation/token_sampler.hpp"
#include "plugins/policies/libtorch/model/config.hpp"
#include "plugins/policies/tokenizer/merge_table.hpp"

namespace krl::libtorch {

using policies::TokenId;

struct GenerationRequest {
  std::vector<TokenId> prompt;
  std::uint32_t samples = 1;
  std::int64_t max_tokens = 0;
  SamplingOptions options;
  std::vector<std::string> stop;  // texts that end an answer
  std::uint64_t seed = 0;         // sample k draws its token t with uniform(seed, k, t)
};

struct GeneratedSample {
  std::size_t request = 0;
  std::uint32_t index = 0;
  std::uint32_t stop_reason = 0;  // KRL_STOP_*
  std::string text;               // valid UTF-8, without the end token and from a stop text on
  std::vector<TokenId> tokens;    // in the order drawn
  std::vector<float> logprobs;
};

// Throws krl::Failure (KRL_INVALID_ARGUMENT) that explains the error in a request: options out of
// range, or a prompt that is empty, leaves no room in the context or contains invalid tokens.
void check_request(const GenerationRequest& request, const ModelConfig& config);

// The error of a model whose logits are not finite.
Failure diverged_weights();

// Answers many prompts at once. Implemented for the CPU (generator.hpp) and for CUDA
// (cuda/cuda_generator.hpp).
class TextGenerator {
 public:
  using Deliver = std::function<void(const GeneratedSample&)>;
  using Poll = std::function<void()>;
  // The next request, checked. None: none for now if not to `wait`, none for good if to.
  using NextRequest = std::function<std::optional<GenerationRequest>(bool wait)>;

  virtual ~TextGenerator() = default;

  // Calls `deliver` on the calling thread with each sample as it is finished, and `poll` every few
  // milliseconds; what either throws ends the generation and is passed on. Throws krl::Failure
  // (KRL_INTERNAL) if the model's logits are not finite. REQUIRES: checked requests.
  virtual void run(std::span<const GenerationRequest> requests, const Deliver& deliver,
                   const Poll& poll) = 0;

  // Answers requests as they come, until there are no more; GeneratedSample::request counts them in
  // that order. `next` is called on the calling thread, and its exception ends the generation. This
  // implementation answers the present requests together, and then those that have come meanwhile.
  virtual void run_stream(const NextRequest& next, const Deliver& deliver, const Poll& poll);
};

}  // namespace krl::libtorch
