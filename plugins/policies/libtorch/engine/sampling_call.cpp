#include "plugins/policies/libtorch/engine/sampling_call.hpp"

#include <algorithm>

#include "plugins/policies/libtorch/generation/token_texts.hpp"

namespace krl::libtorch {

std::optional<GenerationRequest> SamplingCall::take(const Request& request) {
  const std::uint32_t number = requests_++;
  try {
    GenerationRequest generation = to_generation(request);
    const Span<std::int32_t> so_far = request.answer_prefix();
    Taken taken{number, generation.prompt, {so_far.begin(), so_far.end()}, generation.stop};
    generation.prompt.insert(generation.prompt.end(), so_far.begin(), so_far.end());
    generation.max_tokens -= static_cast<std::int64_t>(so_far.size());
    check_request(generation, config_);
    taken_.push_back(std::move(taken));
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

// A character may have begun before the part that was generated.
std::string SamplingCall::whole_text(const Taken& taken, const GeneratedSample& sample) const {
  AnswerText text;
  const std::vector<TokenId>& ends = chat_.stop_tokens();
  for (const TokenId token : taken.so_far) text.add(chat_.tokenizer().bytes(token), {});
  for (const TokenId token : sample.tokens) {
    const bool ends_here = std::find(ends.begin(), ends.end(), token) != ends.end();
    if (ends_here || text.add(chat_.tokenizer().bytes(token), taken.stop)) break;
  }
  return text.text();
}

void SamplingCall::deliver(const GeneratedSample& sample) const {
  const Taken& taken = taken_[sample.request];
  const std::string text = taken.so_far.empty() ? sample.text : whole_text(taken, sample);
  krl_sample out{};
  out.stop_reason = sample.stop_reason;
  out.request = taken.number;
  out.index = sample.index;
  out.text = to_c(text);
  out.prompt_tokens = i32s(taken.prompt);
  out.tokens = i32s(sample.tokens);
  out.logprobs = f32s(sample.logprobs);
  out.policy_version = version_;
  sink_.put(out);
}

}  // namespace krl::libtorch
