#include "generation/text_generator.hpp"

#include <cmath>

namespace krl::libtorch {

void check_request(const GenerationRequest& request, std::size_t index, std::int64_t context) {
  const auto refuse = [&](const std::string& why) {
    invalid_argument("request " + std::to_string(index) + ": " + why);
  };
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  if (prompt >= context) {
    refuse("the prompt has " + std::to_string(prompt) + " tokens and the model's context only " +
           std::to_string(context) +
           ", which must hold the answer as well; shorten the prompt or raise model.context");
  }
  const SamplingOptions& options = request.options;
  if (request.max_tokens < 1) refuse("max_tokens must be at least 1");
  if (!(options.temperature >= 0) || std::isinf(options.temperature)) {
    refuse("temperature must be a number from 0 on");
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) refuse("top_p must be in (0, 1]");
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
