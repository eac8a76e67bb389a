#include "plugins/policies/libtorch/generation/text_generator.hpp"

#include <cmath>

namespace krl::libtorch {

void check_request(const GenerationRequest& request, const ModelConfig& config) {
  if (request.prompt.empty()) invalid_argument("the prompt has no tokens");
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  if (prompt >= config.context) {
    invalid_argument("the prompt has " + std::to_string(prompt) +
                     " tokens and the model's context only " + std::to_string(config.context) +
                     ", which must hold the answer as well; shorten the prompt or raise "
                     "model.context");
  }
  for (const TokenId token : request.prompt) {
    if (token >= 0 && token < config.vocabulary) continue;
    invalid_argument("token " + std::to_string(token) +
                     " of the prompt is outside the vocabulary of " +
                     std::to_string(config.vocabulary));
  }
  const SamplingOptions& options = request.options;
  if (request.max_tokens < 1) invalid_argument("max_tokens must be at least 1");
  if (!(options.temperature >= 0) || std::isinf(options.temperature)) {
    invalid_argument("temperature must be a number from 0 on");
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) invalid_argument("top_p must be in (0, 1]");
}

Failure diverged_weights() {
  return Failure(KRL_INTERNAL,
                 "the model's predictions are not finite: its weights have diverged; go back to an "
                 "earlier checkpoint and lower the learning rate");
}

void TextGenerator::run_stream(const NextRequest& next, const Deliver& deliver, const Poll& poll) {
  std::size_t answered = 0;
  while (std::optional<GenerationRequest> first = next(true)) {
    std::vector<GenerationRequest> requests = {std::move(*first)};
    while (std::optional<GenerationRequest> more = next(false)) {
      requests.push_back(std::move(*more));
    }
    const auto deliver_numbered = [&](const GeneratedSample& sample) {
      GeneratedSample numbered = sample;
      numbered.request += answered;
      deliver(numbered);
    };
    run(requests, deliver_numbered, poll);
    answered += requests.size();
  }
}

}  // namespace krl::libtorch
