#include "plugins/policies/tinker/reference.hpp"

#include <algorithm>

#include "plugins/policies/tinker/service_loss.hpp"

namespace krl::tinker {

void Reference::complete(std::vector<LearnedExample>& examples, const Patience& patience,
                         Yield yield) {
  std::vector<LearnedExample*> incomplete;
  for (LearnedExample& example : examples) {
    if (example.reference_logprobs.empty()) incomplete.push_back(&example);
  }
  if (incomplete.empty()) return;
  if (!sampler_) sampler_ = session_.create_base_sampler(patience, yield);
  std::size_t next = 0;
  const auto work = [&](std::size_t, Yield inner) {
    while (next < incomplete.size()) {
      LearnedExample& example = *incomplete[next++];
      example.reference_logprobs = logprobs(example, patience, inner);
    }
  };
  http::side_by_side(session_.loop().io(), std::min(incomplete.size(), in_flight_), work, yield);
}

std::vector<float> Reference::logprobs(const LearnedExample& example, const Patience& patience,
                                       Yield yield) {
  SampleRequest request;
  request.prompt = example.prompt;
  request.prompt.insert(request.prompt.end(), example.tokens.begin(), example.tokens.end());
  request.max_tokens = 1;  // services give no fewer
  request.sampling_session_id = sampler_->sampling_session_id;
  request.seq_id = sampler_->next_seq_id++;
  request.prompt_logprobs = true;
  const Submission submission{SampleRequest::kPath, to_json(request)};
  std::vector<float> logprobs =
      session_.futures().submit_and_wait<SampleAnswer>(submission, patience, yield).prompt_logprobs;
  // For the first token some services send NaN, and others nothing.
  if (logprobs.size() == request.prompt.size()) logprobs.erase(logprobs.begin());
  return answer_logprobs(example, logprobs);
}

}  // namespace krl::tinker
