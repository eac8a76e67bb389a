// A policy plugin as the core uses it: values in, values out, every answer checked against the
// boundary's rules.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/plugin/instance.hpp"
#include "core/task/answer.hpp"

namespace krl {

struct Message {
  std::uint32_t role = KRL_ROLE_USER;  // KRL_ROLE_*
  std::string text;
};
using Prompt = std::vector<Message>;

struct Sampling {
  std::uint32_t max_tokens = 256;
  double temperature = 1.0, top_p = 1.0;
  std::int32_t top_k = -1;
  std::vector<std::string> stop;
};

struct SampleRequest {
  Prompt prompt;
  std::uint64_t seed = 0;
};

// One training sample: one turn.
struct Example {
  std::vector<std::int32_t> prompt_tokens, tokens;
  // One for each of `tokens`, or empty (krl_example).
  std::vector<float> logprobs = {}, advantages = {}, weights = {}, values = {}, returns = {};
};

struct Loss {
  std::string name;  // "ppo", "cross_entropy", …
  std::uint32_t aggregation = KRL_TOKEN_MEAN;
  double normaliser = 1;   // of the whole optimiser step
  double temperature = 1;  // of the sampling that the examples come from
  std::vector<std::pair<std::string, double>> parameters;
};

struct Optimizer {  // AdamW
  double lr = 0, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0, grad_clip = 1;
};

struct PolicyInfo {
  bool trainable = false, has_tokens = false, needs_corpus = false, has_critic = false;
  std::int64_t context_tokens = 0;
};

// Calls block. Thread-safe as Instance is.
class Policy {
 public:
  static constexpr Kind kKind = Kind::kPolicy;

  explicit Policy(Instance instance)
      : instance_(std::move(instance)), tokenizing_(std::make_unique<std::mutex>()) {}

  const Component& component() const { return instance_.component(); }
  Result<PolicyInfo> describe() const;
  // Whether its calls are to end soon, as the user stopped the run. Any thread.
  bool cancelled() const { return instance_.scope().cancelled(); }

  // Answers every request with one sample. `on_answer(request, answer)` is called from inside, on
  // any thread, one at a time, as soon as each is finished.
  using OnAnswer = std::function<void(std::size_t request, Answer answer)>;
  Status sample(const std::vector<SampleRequest>& requests, const Sampling& sampling,
                const OnAnswer& on_answer) const;

  // Whether policies of this component take requests while they answer others.
  static bool can_stream(const Component& policy);

  // Whether this process is there only to serve the policy of another one, which runs the
  // experiment: `policy` is then created, follow() called, and that is all.
  static Result<bool> follows(const Component& policy);
  Status follow() const;

  // Answers requests as `next` gives them, each with one sample, numbered from 0 in that order.
  // `next(wait)`: the next request, which lives until the call returns; null if there is none, for
  // now or, where it waited, for good. Both functions are called as `on_answer` is.
  // REQUIRES: can_stream.
  using NextRequest = std::function<Result<const SampleRequest*>(bool wait)>;
  Status sample_stream(const Sampling& sampling, const NextRequest& next,
                       const OnAnswer& on_answer) const;

  // The tokens of a prompt and of the answer to be learned; no logprobs. May overlap sample_stream.
  Result<Example> tokenize(const Prompt& prompt, const std::string& answer) const;

  // The rest needs PolicyInfo::trainable.
  Status fit(const std::vector<std::string>& texts, std::uint64_t seed) const;
  Status forward_backward(const Loss& loss, const std::vector<Example>& examples,
                          Metrics& metrics) const;
  Status optimizer_step(const Optimizer& optimizer, Metrics& metrics) const;
  // For every token of every example, what the critic expects from there. Needs has_critic.
  Result<std::vector<std::vector<float>>> values(const std::vector<Example>& examples) const;
  Status save(const std::string& directory) const;
  Status load(const std::string& directory) const;
  // Writes the weights for other programs into an existing, empty directory. `format`: "hf" or
  // "peft".
  Status export_weights(const std::string& directory, const std::string& format) const;

 private:
  const krl_policy_v& table() const {
    return *static_cast<const krl_policy_v*>(component().raw->table);
  }

  Instance instance_;
  std::unique_ptr<std::mutex> tokenizing_;  // where tokenize() does not wait for other calls
};

}  // namespace krl
