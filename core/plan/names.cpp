#include "core/plan/names.hpp"

#include <algorithm>
#include <array>

namespace krl {
namespace {

constexpr std::array<std::string_view, 48> kMetrics = {
    "iteration",
    "reward/mean",
    "reward/std",
    "reward/lost",
    "actor/loss",
    "actor/pg_loss",
    "actor/kl",
    "actor/clip_fraction",
    "actor/ppo_kl",
    "actor/entropy",
    "actor/grad_norm",
    "actor/lr",
    "actor/not_finite",
    "critic/value_loss",
    "critic/value_mean",
    "critic/explained_variance",
    "response_length/mean",
    "response_length/max",
    "response_length/clip_ratio",
    "episode/turns",
    "episode/best_reward",
    "groups/zero_variance",
    "groups/below_noise",
    "groups/lost_future",
    "groups/refilled",
    "groups/dropped",
    "sampler/logprob_diff/mean",
    "sampler/logprob_diff/max",
    "sampler/tis/cut",
    "sampler/tis/effective",
    "sampler/lost",
    "sampler/refused",
    "sampler/thoughts_ended",
    "sampler/version_lag",
    "sampler/retries",
    "sampler/prompt_tokens",
    "sampler/cached_tokens",
    "perf/tokens_per_s",
    "perf/evaluations_per_s",
    "perf/answers_in_flight",
    "time_s/waiting",
    "time_s/rollout",
    "time_s/learn",
    "time_s/iteration",
    "cache/hit_rate",
    "best/refused",
    "infra_errors",
    "curriculum/open_tier",
};

// Of episodes: written for all, and for each tier.
constexpr std::array<std::string_view, 2> kEpisodeMetrics = {"compile_rate_any", "pass_rate_any"};

// Written for all turns, for each turn and for each tier.
constexpr std::array<std::string_view, 13> kKernelMetrics = {
    "compile_rate", "pass_rate",      "overfit_rate",     "flagged",        "fast_1",
    "fast_2",       "speedup_median", "speedup_geomean",  "speedup_capped", "timed",
    "within_noise", "roofline",       "reference_speedup"};

constexpr int kTiers = 4;

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether `text` is "<family>_<n>" with first <= n < end, no leading zeros.
bool is_member(std::string_view text, std::string_view family, std::int64_t first,
               std::int64_t end) {
  if (!text.starts_with(family)) return false;
  for (std::int64_t n = first; n < end; ++n) {
    if (text.substr(family.size()) == std::to_string(n)) return true;
  }
  return false;
}

}  // namespace

const std::vector<std::string>& stop_names() {
  static const std::vector<std::string> kNames = {"best_score", "compiled", "passed",
                                                  "score",      "speedup",  "turn"};
  return kNames;
}

std::optional<std::string> resolve_metric(std::string_view name,
                                          const std::vector<std::string>& rewards,
                                          std::int64_t turns) {
  if (contains(kMetrics, name)) return std::string(name);
  if (contains(kKernelMetrics, name) || contains(kEpisodeMetrics, name))
    return "kernel/" + std::string(name);
  for (const std::string& reward : rewards) {
    if (name == "reward/" + reward + "/mean") return std::string(name);
  }
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view family = name.substr(0, slash), metric = name.substr(slash + 1);
  const bool by_turn = turns > 1 && is_member(family, "turn_", 1, turns + 1);
  const bool of_all = family == "kernel" || is_member(family, "tier_", 0, kTiers);
  const bool known = ((by_turn || of_all) && contains(kKernelMetrics, metric)) ||
                     (of_all && contains(kEpisodeMetrics, metric));
  return known ? std::optional(std::string(name)) : std::nullopt;
}

bool is_holdout_metric(std::string_view name, const std::vector<std::string>& datasets) {
  return std::any_of(datasets.begin(), datasets.end(), [&](const std::string& dataset) {
    const std::string prefix = "holdout/" + dataset + "/";
    if (!name.starts_with(prefix)) return false;
    const std::string_view metric = name.substr(prefix.size());
    return contains(kKernelMetrics, metric) || contains(kEpisodeMetrics, metric);
  });
}

std::vector<std::string> metric_names(const std::vector<std::string>& rewards) {
  std::vector<std::string> names(kKernelMetrics.begin(), kKernelMetrics.end());
  names.insert(names.end(), kEpisodeMetrics.begin(), kEpisodeMetrics.end());
  for (const std::string& reward : rewards) names.push_back("reward/" + reward + "/mean");
  names.insert(names.end(), kMetrics.begin(), kMetrics.end());
  return names;
}

}  // namespace krl
