#include "engine/sampling_call.hpp"

namespace krl::libtorch {

std::optional<GenerationRequest> SamplingCall::take(const Request& request) {
  const std::uint32_t number = requests_++;
  try {
    GenerationRequest generation = to_generation(request);
    check_request(generation, config_);
    taken_.push_back({number, generation.prompt});
    return generation;
  } catch (const Failure& failure) {
    sink_.fail(number, failure.code(), failure.what());
    return std::nullopt;
  }
}

GenerationRequest SamplingCall::to_generation(const Request& request) const {
  if (request.deadline_ns() != 0 && monotonic_ns() > request.deadline_ns()) {
    throw Failure(KRL_DEADLINE_EXCEEDED, "the request's deadline passed before it was begun");
  }
  GenerationRequest generation;
  if (const auto tokens = request.prompt_tokens(); !tokens.empty()) {
    generation.prompt.assign(tokens.begin(), tokens.end());
  } else {
    generation.prompt = chat_.prompt(request.messages());
  }
  generation.samples = request.n_samples();
  generation.max_tokens = request.max_tokens();
  generation.options = {request.temperature(), request.top_p(), request.top_k()};
  generation.seed = request.seed();
  for (const std::string_view stop : request.stop()) {
    if (stop.empty()) invalid_argument("a stop text is empty");
    generation.stop.emplace_back(stop);
  }
  return generation;
}

void SamplingCall::deliver(const GeneratedSample& sample) const {
  const Taken& taken = taken_[sample.request];
  krl_sample out{};
  out.stop_reason = sample.stop_reason;
  out.request = taken.number;
  out.index = sample.index;
  out.text = to_c(sample.text);
  out.prompt_tokens = i32s(taken.prompt);
  out.tokens = i32s(sample.tokens);
  out.logprobs = f32s(sample.logprobs);
  out.policy_version = version_;
  sink_.put(out);
}

}  // namespace krl::libtorch
