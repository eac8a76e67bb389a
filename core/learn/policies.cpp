#include "core/learn/policies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/learn/optimizer_step.hpp"
#include "core/plan/node.hpp"
#include "core/plan/source.hpp"
#include "core/plugin/components.hpp"

namespace krl::core {
namespace fs = std::filesystem;
namespace {

// The kind of weights that both know; 0 = none. An adapter is smaller than all weights.
std::uint32_t common_weights(const PolicyInfo& from, const PolicyInfo& to) {
  const std::uint32_t both = from.exports & to.adopts;
  return (both & KRL_WEIGHTS_PEFT) != 0 ? KRL_WEIGHTS_PEFT : both & KRL_WEIGHTS_HF;
}

std::int64_t least_context(std::int64_t a, std::int64_t b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

Result<std::optional<Policy>> create_part(const std::optional<ComponentSettings>& settings,
                                          const Components& components) {
  if (!settings) return std::nullopt;
  KRL_ASSIGN(Policy policy, components.create<Policy>(*settings));
  return policy;
}

}  // namespace

Result<std::unique_ptr<Policies>> Policies::create(const PolicySettings& settings,
                                                   const Components& components, fs::path exchange,
                                                   FileSystem& files) {
  KRL_ASSIGN(Policy learner, components.create<Policy>(settings));
  std::unique_ptr<Policies> policies(new Policies(std::move(learner), std::move(exchange), files));
  KRL_ASSIGN(policies->sampler_, create_part(settings.sampler, components));
  KRL_ASSIGN(policies->reference_, create_part(settings.reference, components));
  return policies;
}

Status Policies::publish() {
  KRL_ASSIGN(const PolicyInfo info, learner_.describe());
  if (!info.trainable) return {};  // its weights are always the same
  KRL_ASSIGN(const std::uint64_t version, learner_.publish());
  if (sampler_ && published_ != version) KRL_TRY(hand_over(version));
  published_ = version;
  return {};
}

// Whole and on the disk under its last name before the sampler is told; the one before stays
// until the sampler has let go of it.
Status Policies::hand_over(std::uint64_t version) {
  KRL_ASSIGN(const PolicyInfo from, learner_.describe());
  KRL_ASSIGN(const PolicyInfo to, sampler_->describe());
  const std::uint32_t kind = common_weights(from, to);
  const fs::path folder = exchange_ / fmt::format("version_{:06}", version);
  const fs::path draft = exchange_ / "draft";
  KRL_TRY(make_directories(files_, exchange_));
  KRL_TRY(remove_tree(files_, draft));
  KRL_TRY(remove_tree(files_, folder));
  KRL_TRY(files_.make_directory(draft));
  KRL_TRY(learner_.export_weights(draft.string(), kind == KRL_WEIGHTS_PEFT ? "peft" : "hf"));
  KRL_TRY(sync_tree(files_, draft));
  KRL_TRY(files_.rename(draft, folder));
  KRL_TRY(files_.sync(exchange_));
  KRL_TRY(sampler_->adopt_weights({kind, folder.string(), version}));
  return remove_others(folder);
}

// Removes the weights that a killed run left behind.
Status Policies::remove_others(const fs::path& kept) {
  KRL_ASSIGN(const std::vector<fs::path> all, children_of(exchange_));
  for (const fs::path& folder : all)
    if (folder != kept) KRL_TRY(remove_tree(files_, folder));
  return {};
}

Result<Player> Policies::player() const {
  KRL_ASSIGN(const PolicyInfo own, learner_.describe());
  if (!sampler_) return Player{learner_, own, nullptr, own.context_tokens, published_};
  KRL_ASSIGN(const PolicyInfo info, sampler_->describe());
  return Player{*sampler_, info, &learner_, least_context(own.context_tokens, info.context_tokens),
                published_};
}

Status Policies::add_logprobs(const Settings& settings, std::vector<Example>& examples) const {
  const double temperature = settings.rollout.temperature;
  KRL_ASSIGN(const PolicyInfo own, learner_.describe());
  if (parameter_of(settings.learn.loss, "tis") > 0 && (own.needs_old_logprobs || sampler_)) {
    KRL_ASSIGN(std::vector<std::vector<float>> old, learner_.logprobs(temperature, examples));
    for (std::size_t i = 0; i < examples.size(); ++i) examples[i].old_logprobs = std::move(old[i]);
  }
  if (parameter_of(settings.learn.loss, "kl") > 0 && reference_) {
    KRL_ASSIGN(std::vector<std::vector<float>> of_reference,
               reference_->logprobs(temperature, examples));
    for (std::size_t i = 0; i < examples.size(); ++i)
      examples[i].reference_logprobs = std::move(of_reference[i]);
  }
  return {};
}

}  // namespace krl::core
