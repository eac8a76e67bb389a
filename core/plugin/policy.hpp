// A policy plugin as the core uses it: values in, values out, every answer checked against the
// boundary's rules.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <kernelrl/policy_values.hpp>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/plugin/instance.hpp"
#include "core/task/answer.hpp"

namespace krl::core {

using Message = MessageValue;
using Prompt = std::vector<Message>;

using Sampling = SamplingValue;
using SampleRequest = RequestValue;

using Example = ExampleValue;
using Batch = std::vector<const Example*>;  // borrowed, each from where all examples are

using Loss = LossValue;
using Optimizer = OptimizerValue;
using krl::PolicyInfo;

// Weights that one policy has exported for another.
struct Weights {
  std::uint32_t kind = KRL_WEIGHTS_HF;  // one of KRL_WEIGHTS_*
  std::string directory;
  std::uint64_t version = 0;
};

// Receives the samples of a call. Called from inside it, on any thread, one at a time.
struct AnswerSink {
  std::function<void(std::size_t request, std::uint32_t sample, Answer answer)> answered;
  // The samples of this request that were not answered will not be.
  std::function<void(std::size_t request, Error why)> lost;
};

class SampleReceiver;

// Calls block. Calls that leave nothing behind when they fail are repeated while the policy is
// unavailable: all but fit(), forward_backward(), optimizer_step(), save(), forget() and
// export_weights(). Thread-safe as Instance is.
class Policy {
 public:
  static constexpr Kind kKind = Kind::kPolicy;

  explicit Policy(Instance instance)
      : instance_(std::move(instance)),
        overlaps_(std::make_unique<Overlaps>()),
        bounds_(std::make_unique<Bounds>()) {}

  const Component& component() const { return instance_.component(); }
  Result<PolicyInfo> describe() const;
  // True if its calls are to end soon, because the user stopped the run. Callable from any thread.
  bool cancelled() const { return instance_.scope().cancelled(); }

  // Returns what describe() will report for a policy with these options, as far as that is known
  // without starting one; nothing if its plugin does not tell.
  static Result<std::optional<PolicyInfo>> preview(const Component& policy,
                                                   const nlohmann::json& options,
                                                   const CallScope& scope);
  // Checks if it could learn by this loss; kInvalidArgument explains why not.
  static Status check_loss(const Component& policy, const nlohmann::json& options, const Loss& loss,
                           const CallScope& scope);

  // Answers every request with as many samples as it asks for, each as soon as it is finished, or
  // reports that it is lost. Figures that the call reports are added to `metrics`.
  Status sample(const std::vector<SampleRequest>& requests, const AnswerSink& sink,
                Metrics& metrics) const;

  // True if policies of this component take requests while they answer others.
  static bool can_stream(const Component& policy);

  // True if this process exists only to serve the policy of another one, which runs the experiment:
  // `policy` is then created, and only follow() is called.
  static Result<bool> follows(const Component& policy);
  Status follow() const;

  // Like sample(), for requests that `next` returns, numbered from 0 in that order. `next(wait)`:
  // the next request, which lives until the call returns; null if there is none, for now or, if it
  // waited, permanently. It is called as the sink is. REQUIRES: can_stream.
  using NextRequest = std::function<Result<const SampleRequest*>(bool wait)>;
  Status sample_stream(const NextRequest& next, const AnswerSink& sink, Metrics& metrics) const;

  // The tokens of a prompt and of the answer to be learned; no logprobs. May overlap sample_stream.
  Result<Example> tokenize(const Prompt& prompt, const std::string& answer) const;

  // The log-probabilities of the examples' tokens. Needs PolicyInfo::has_logprobs.
  Result<std::vector<std::vector<float>>> logprobs(double temperature,
                                                   const std::vector<Example>& examples) const;

  // Samples with another policy's weights from here on. Needs PolicyInfo::adopts.
  Status adopt_weights(const Weights& weights) const;

  // The rest needs PolicyInfo::trainable.
  Status fit(const std::vector<std::string>& texts, std::uint64_t seed) const;
  Status forward_backward(const Loss& loss, const Batch& batch, Metrics& metrics) const;
  Status optimizer_step(const Optimizer& optimizer, Metrics& metrics) const;
  // Makes samples come from the present weights, and returns their version.
  Result<std::uint64_t> publish() const;
  // Returns the critic's expected return from every token of every example. Needs has_critic.
  Result<std::vector<std::vector<float>>> values(const std::vector<Example>& examples) const;
  Status save(const std::string& directory) const;
  Status load(const std::string& directory) const;
  // The directory, which save() has filled, is about to be deleted.
  Status forget(const std::string& directory) const;
  // Writes the weights for other programs into an existing, empty directory. `format`: "hf" or
  // "peft".
  Status export_weights(const std::string& directory, const std::string& format) const;

 private:
  const krl_policy_v& table() const {
    return *static_cast<const krl_policy_v*>(component().raw->table);
  }

  // Calls that a policy may overlap although it is not thread-safe.
  struct Overlaps {
    std::mutex tokenizing;  // used if tokenize() does not wait for other calls
    std::mutex sampling;    // used if sampling does not wait for learning calls
    std::atomic<bool> samples_while_training{false};  // from the last describe()
  };
  // The limits of its samples.
  struct Bounds {
    std::atomic<std::int64_t> vocabulary{0};  // from the last describe(); 0 = unknown
    std::atomic<std::uint64_t> described{0};  // the version that describe() last gave
    std::atomic<std::uint64_t> sampled{0};    // the newest version that a call has sampled with
    std::atomic<bool> gives_tokens{false};    // it can be trained, and reports that it has tokens
  };

  // One try each of the calls above.
  Result<Example> tokenize_once(const Prompt& prompt, const std::string& answer) const;

  // Describes the error in the properties that describe() pushed; empty if there is none.
  std::string complaint_about(const krl_policy_info& info) const;

  template <class Attempt>
  Status sample_patiently(SampleReceiver& receiver, const Attempt& attempt) const;

  // Runs a call that samples.
  template <class Function>
  Status run_sampling(Call& call, std::string_view name, const Function& function) const;

  Instance instance_;
  std::unique_ptr<Overlaps> overlaps_;
  std::unique_ptr<Bounds> bounds_;
};

}  // namespace krl::core
