// The policies of a run: the learner and, if the plan has them, a sampler and a reference.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"
#include "core/episode/rollout.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"
#include "core/stage/stage_setup.hpp"

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

  // Makes samples come from the learner's current weights from now on.
  Status publish();

  // The policy that answers in episodes, with the weights published last.
  Result<Player> player() const;

  // Adds the log-probabilities that the loss needs besides the recorded ones: under the learner's
  // current weights, if they cannot be computed later, and under the reference.
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

}  // namespace krl::core
