// The policies of a run: the one that learns, and those that the plan gives it: one that samples in
// its place, one that it is kept near to.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"
#include "core/episode/rollout.hpp"
#include "core/learn/setup.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"

namespace krl::core {

// One thread.
class Policies {
 public:
  // Creates them, each error at its place in the plan. `exchange`: the folder through which weights
  // are handed to a sampler, made when that is first done.
  static Result<std::unique_ptr<Policies>> create(const PolicySettings& settings,
                                                  const Components& components,
                                                  std::filesystem::path exchange,
                                                  FileSystem& files = real_file_system());

  const Policy& learner() const { return learner_; }
  const Policy& sampler() const { return sampler_ ? *sampler_ : learner_; }
  const std::optional<Policy>& reference() const { return reference_; }
  bool has_sampler() const { return sampler_.has_value(); }

  // The learner's weights of now are those that sample from here on.
  Status publish();

  // Who answers in episodes, by the weights that were published last.
  Result<Player> player() const;

  // Adds what the loss needs beside what was sampled: log-probabilities under the learner's weights
  // of now, where it cannot know them later, and under the reference.
  Status add_logprobs(const Settings& settings, std::vector<Example>& examples) const;

 private:
  Policies(Policy learner, std::filesystem::path exchange, FileSystem& files)
      : learner_(std::move(learner)), exchange_(std::move(exchange)), files_(files) {}

  Status hand_over(std::uint64_t version);
  Status remove_others(const std::filesystem::path& kept);

  Policy learner_;
  std::optional<Policy> sampler_, reference_;
  const std::filesystem::path exchange_;
  FileSystem& files_;
  std::optional<std::uint64_t> published_;
};

// What is known of the policies of a plan.
struct PolicyInfos {
  std::optional<PolicyInfo> learner, sampler, reference;
};

// What describe() says of them; or, before they are created, what their plugins tell.
Result<PolicyInfos> describe(const Policies& policies);
Result<PolicyInfos> preview(const PolicySettings& settings, const Registry& registry);

// Refuses, at its place in the plan, a policy that only samples.
Status check_trainable(const PolicySettings& settings, const PolicyInfos& infos);

// What is no error of a plan's policies, and may surprise, as far as it can be known without
// starting one: an answer that cannot be as long as the plan allows.
std::vector<std::string> policy_notes(const Plan& plan, const Registry& registry);

// Refuses, at its place in the plan, what the policies cannot do for the plan's stages: learn at
// all, by that loss, from such log-probabilities; hand over weights; sample ahead. What is not
// known is not held against them.
Status check_policies(const Plan& plan, const PolicyInfos& infos, const Registry& registry);

}  // namespace krl::core
