#include "plugins/policies/tinker/learned_example.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace krl::tinker {
namespace {

using policies::LossKind;
using policies::LossOptions;

template <class T>
std::vector<T> copy(Span<T> values) {
  return {values.begin(), values.end()};
}

class Copier {
 public:
  Copier(const Example& example, std::size_t index, const ExampleLimits& limits)
      : example_(example), index_(index), limits_(limits) {
    if (example.prompt_tokens().empty()) refuse("it has no prompt tokens");
    if (example.tokens().empty()) refuse("it has no answer tokens");
    const auto length =
        static_cast<std::int64_t>(example.prompt_tokens().size() + example.tokens().size());
    if (limits.context > 0 && length > limits.context) {
      refuse("prompt and answer have " + std::to_string(length) +
             " tokens, and the model's context is " + std::to_string(limits.context));
    }
    copy_.prompt = ids(example.prompt_tokens());
    copy_.tokens = ids(example.tokens());
  }

  void take_loss_inputs(const LossOptions& loss) {
    const bool supervised = loss.kind == LossKind::kCrossEntropy;
    copy_.sampled = numbers(example_.logprobs(), "logprobs",
                            supervised && loss.tis == 0 ? "" : "the loss needs them");
    copy_.advantages =
        numbers(example_.advantages(), "advantages", supervised ? "" : "the loss needs them");
    copy_.weights = numbers(example_.weights(), "weights", "");
    copy_.old_logprobs =
        numbers(example_.old_logprobs(), "old_logprobs", loss.tis > 0 ? "loss.tis needs them" : "");
    copy_.reference_logprobs = numbers(example_.reference_logprobs(), "reference_logprobs", "");
    if (!example_.returns().empty()) refuse("it has returns, and this policy has no critic");
    if (std::any_of(copy_.weights.begin(), copy_.weights.end(), [](float w) { return w < 0; }))
      refuse("a weight is negative");
  }

  LearnedExample result() && { return std::move(copy_); }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    invalid_argument("example " + std::to_string(index_) + ": " + why);
  }

  std::vector<TokenId> ids(Span<TokenId> tokens) const {
    for (const TokenId token : tokens) {
      if (token >= 0 && (limits_.vocabulary == 0 || token < limits_.vocabulary)) continue;
      refuse("token " + std::to_string(token) + " is outside the vocabulary of " +
             std::to_string(limits_.vocabulary));
    }
    return copy(tokens);
  }

  // `need`: the reason why there must be values; empty: there may be none.
  std::vector<float> numbers(Span<float> values, const char* name, const std::string& need) const {
    if (values.empty() && need.empty()) return {};
    if (values.size() != example_.tokens().size()) {
      refuse("it has " + std::to_string(values.size()) + " " + name + " for " +
             std::to_string(example_.tokens().size()) + " answer tokens" +
             (need.empty() ? "" : "; " + need));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i]))
        refuse(std::string(name) + "[" + std::to_string(i) + "] is not a finite number");
    }
    return copy(values);
  }

  const Example& example_;
  std::size_t index_;
  const ExampleLimits& limits_;
  LearnedExample copy_;
};

}  // namespace

bool LearnedExample::counts() const {
  return weights.empty() ||
         std::any_of(weights.begin(), weights.end(), [](float w) { return w > 0; });
}

std::vector<LearnedExample> copy_examples(const Examples& examples, const LossOptions& loss,
                                          const ExampleLimits& limits) {
  std::vector<LearnedExample> copies;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Example example = examples[i];
    Copier copier(example, i, limits);
    copier.take_loss_inputs(loss);
    copies.push_back(std::move(copier).result());
  }
  return copies;
}

std::vector<LearnedExample> copy_examples(const Examples& examples, const ExampleLimits& limits) {
  std::vector<LearnedExample> copies;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Example example = examples[i];
    copies.push_back(Copier(example, i, limits).result());
  }
  return copies;
}

}  // namespace krl::tinker
