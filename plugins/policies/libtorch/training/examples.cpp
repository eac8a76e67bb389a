#include "plugins/policies/libtorch/training/examples.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "plugins/policies/libtorch/training/transfer.hpp"

namespace krl::libtorch {

using namespace policies;  // losses

namespace {

class ExampleCheck {
 public:
  ExampleCheck(const Example& example, std::size_t index) : example_(example), index_(index) {}

  void lengths(const ModelConfig& config) const {
    if (example_.prompt_tokens().empty()) refuse("it has no prompt tokens");
    if (example_.tokens().empty()) refuse("it has no answer tokens");
    const std::size_t length = example_.prompt_tokens().size() + example_.tokens().size();
    if (length > static_cast<std::size_t>(config.context)) {
      refuse("prompt and answer have " + std::to_string(length) +
             " tokens, and the model's context "
             "is " +
             std::to_string(config.context));
    }
  }

  void tokens(Span<std::int32_t> tokens, const ModelConfig& config) const {
    for (const std::int32_t token : tokens) {
      if (token < 0 || token >= config.vocabulary) {
        refuse("token " + std::to_string(token) + " is outside the vocabulary of " +
               std::to_string(config.vocabulary));
      }
    }
  }

  void values(Span<float> values, const char* name, bool needed) const {
    if (values.empty() && !needed) return;
    if (values.size() != example_.tokens().size()) {
      refuse("it has " + std::to_string(values.size()) + " " + name + " for " +
             std::to_string(example_.tokens().size()) + " answer tokens");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        refuse(std::string(name) + "[" + std::to_string(i) + "] is not a finite number");
      }
    }
  }

  // All examples have them, or none: one without would silently be held to another model.
  void as_first(Span<float> given, Span<float> of_first, const char* name) const {
    if (of_first.empty() && !given.empty())
      refuse("it has " + std::string(name) + ", and example 0 has none");
    values(given, name, !of_first.empty());
  }

  void weights_not_negative() const {
    const auto weights = example_.weights();
    if (std::any_of(weights.begin(), weights.end(), [](float w) { return w < 0; })) {
      refuse("a weight is negative");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Failure(KRL_INVALID_ARGUMENT, "example " + std::to_string(index_) + ": " + why);
  }
  const Example& example_;
  std::size_t index_;
};

}  // namespace

void check_examples(const Examples& examples, const ModelConfig& config, const LossOptions* loss) {
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Example example = examples[i];
    const ExampleCheck check(example, i);
    check.lengths(config);
    check.tokens(example.prompt_tokens(), config);
    check.tokens(example.tokens(), config);
    if (loss == nullptr) continue;
    const bool supervised = loss->kind == LossKind::kCrossEntropy;
    check.values(example.logprobs(), "logprobs", !supervised || loss->tis > 0);
    check.values(example.advantages(), "advantages", !supervised);
    check.values(example.weights(), "weights", false);
    check.weights_not_negative();
    check.values(example.values(), "values", !example.returns().empty());
    check.values(example.returns(), "returns", !example.values().empty());
    check.as_first(example.old_logprobs(), examples[0].old_logprobs(), "old_logprobs");
    check.as_first(example.reference_logprobs(), examples[0].reference_logprobs(),
                   "reference_logprobs");
  }
}

void check_no_returns(const Examples& examples) {
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (examples[i].returns().empty()) continue;
    throw Failure(KRL_INVALID_ARGUMENT, "example " + std::to_string(i) +
                                            ": it has returns, and the policy has no critic");
  }
}

std::vector<std::int64_t> example_lengths(const Examples& examples) {
  std::vector<std::int64_t> lengths;
  for (const Example example : examples) {
    lengths.push_back(
        static_cast<std::int64_t>(example.prompt_tokens().size() + example.tokens().size()));
  }
  return lengths;
}

PackedBatch pack_examples(const Examples& examples, const MicroBatch& batch, at::Device device) {
  PackedBatch packed;
  std::vector<std::int64_t> tokens, positions, predicting, targets;
  packed.starts.push_back(0);
  for (const std::size_t i : batch) {
    const Example example = examples[i];
    const std::int64_t start = packed.starts.back();
    std::int64_t position = 0;
    for (const std::int32_t token : example.prompt_tokens()) {
      tokens.push_back(token);
      positions.push_back(position++);
    }
    for (const std::int32_t token : example.tokens()) {
      predicting.push_back(start + position - 1);
      targets.push_back(token);
      tokens.push_back(token);
      positions.push_back(position++);
    }
    // The last token predicts nothing that is looked at.
    tokens.pop_back();
    positions.pop_back();
    packed.starts.push_back(static_cast<std::int64_t>(tokens.size()));
    packed.longest = std::max(packed.longest, packed.starts.back() - start);
  }
  const auto to_tensor = [&](const std::vector<std::int64_t>& values) {
    return to_device(values, device);
  };
  packed.tokens = to_tensor(tokens);
  packed.positions = to_tensor(positions);
  packed.boundaries = to_tensor(packed.starts).to(at::kInt);
  packed.predicting = to_tensor(predicting);
  packed.targets = to_tensor(targets);
  return packed;
}

}  // namespace krl::libtorch
