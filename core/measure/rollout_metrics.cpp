#include "core/measure/rollout_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "core/base/metrics.hpp"
#include "core/episode/cascade_costs.hpp"
#include "core/episode/judge.hpp"
#include "core/measure/measurement.hpp"

namespace krl::core {
namespace {

constexpr double kSpeedupCap = 3;

// Right at every shape that was shown, and not at one that was not.
bool is_overfit(const Evaluation& evaluation) {
  bool fails_fresh = false, passes_shown = true;
  for (const Case& c : evaluation.cases) {
    const bool passed = c.verdict == Verdict::kOk;
    fails_fresh |= c.kind == CaseKind::kFresh && !passed;
    passes_shown &= c.kind != CaseKind::kShown || passed;
  }
  return fails_fresh && passes_shown;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Collects the kernels of one set of turns.
class Kernels {
 public:
  void add(const Evaluation& evaluation) {
    rates_.add(evaluation.compiled(), evaluation.passed());
    flagged_ += evaluation.verdict == Verdict::kFlagged ? 1 : 0;
    overfit_ += is_overfit(evaluation) ? 1 : 0;
    if (const auto unsafe = evaluation.value(Judge::kUnsafe)) unsafe_.push_back(*unsafe);
    if (const auto not_run = evaluation.value(Judge::kUnsanitized))
      unsanitized_.push_back(*not_run);
    if (!evaluation.passed()) return;
    const double speedup = evaluation.speedup();
    if (!std::isfinite(speedup)) return;
    speedups_.push_back(speedup);
    if (const auto share = evaluation.value("roofline")) rooflines_.push_back(*share);
    if (const auto rival = evaluation.value("reference_speedup"); rival && *rival > 0) {
      log_reference_speedups_.push_back(std::log(*rival));
    }
    within_noise_ += is_within_noise(evaluation) ? 1 : 0;
  }

  // Figures that no turn measured are left out.
  void write(const std::string& prefix, Metrics& metrics) const {
    if (rates_.count == 0) return;
    for (const Row& row : rows()) {
      if (const Value value = row.value(*this)) metrics[prefix + row.name] = *value;
    }
  }

  static void declare(MetricNames& names) {
    for (const Row& row : rows()) names.of_kernels.emplace_back(row.name);
  }

 private:
  using Value = std::optional<double>;
  struct Row {
    const char* name;
    Value (*value)(const Kernels&);
  };
  static std::span<const Row> rows();

  // Set if the backend measures times, and some kernels have none.
  Value timed() const {
    const double passed = rates_.passed;
    return speedups_.empty() || timed_count() == passed ? Value() : share(timed_count(), passed);
  }
  Value speedup_capped() const {
    double capped = 0;
    for (const double s : speedups_) capped += std::min(s, kSpeedupCap);
    return share(capped, timed_count());
  }

  static Value mean_if_any(const std::vector<double>& values) {
    return values.empty() ? Value() : Value(mean_of(values));
  }
  static Value share(double part, double of) { return of > 0 ? Value(part / of) : Value(); }
  static std::vector<double> logs_of(std::vector<double> values) {
    for (double& value : values) value = std::log(value);
    return values;
  }
  static Value geometric_mean_of(const std::vector<double>& logs) {
    return logs.empty() ? Value() : Value(std::exp(mean_of(logs)));
  }
  double timed_count() const { return static_cast<double>(speedups_.size()); }
  Value faster_than(double factor) const {
    if (rates_.passed > 0 && speedups_.empty()) return {};  // this backend does not time
    return rates_.share(static_cast<double>(
        std::ranges::count_if(speedups_, [&](double s) { return is_fast(s, factor); })));
  }

  // True if the kernel cannot be distinguished from the baseline: the interval of every timed case
  // contains 1.
  static bool is_within_noise(const Evaluation& evaluation) {
    return std::ranges::all_of(evaluation.cases, [](const Case& c) {
      return c.kind != CaseKind::kShown || !std::isfinite(c.speedup_low) ||
             (c.speedup_low <= 1 && c.speedup_high >= 1);
    });
  }

  Rates rates_;
  double overfit_ = 0, flagged_ = 0, within_noise_ = 0;
  std::vector<double> unsafe_, unsanitized_, speedups_, rooflines_, log_reference_speedups_;
};

std::span<const Kernels::Row> Kernels::rows() {
  using K = Kernels;
  static constexpr Row kRows[] = {
      {"compile_rate", [](const K& k) -> Value { return k.rates_.compile_rate(); }},
      {"pass_rate", [](const K& k) -> Value { return k.rates_.pass_rate(); }},
      {"overfit_rate",
       [](const K& k) -> Value { return share(k.overfit_, k.rates_.passed + k.overfit_); }},
      {"unsafe_rate", [](const K& k) -> Value { return mean_if_any(k.unsafe_); }},
      {"unsanitized_rate", [](const K& k) -> Value { return mean_if_any(k.unsanitized_); }},
      {"flagged", [](const K& k) -> Value { return k.rates_.share(k.flagged_); }},
      {"fast_1", [](const K& k) -> Value { return k.faster_than(1); }},
      {"fast_2", [](const K& k) -> Value { return k.faster_than(2); }},
      {"speedup_median",
       [](const K& k) -> Value { return k.speedups_.empty() ? Value() : median_of(k.speedups_); }},
      {"speedup_geomean",
       [](const K& k) -> Value { return geometric_mean_of(logs_of(k.speedups_)); }},
      {"speedup_capped", [](const K& k) -> Value { return k.speedup_capped(); }},
      {"timed", [](const K& k) -> Value { return k.timed(); }},
      {"within_noise", [](const K& k) -> Value { return share(k.within_noise_, k.timed_count()); }},
      {"roofline", [](const K& k) -> Value { return mean_if_any(k.rooflines_); }},
      {"reference_speedup",
       [](const K& k) -> Value { return geometric_mean_of(k.log_reference_speedups_); }},
  };
  return kRows;
}

constexpr const char *kCompileRateAny = "compile_rate_any", *kPassRateAny = "pass_rate_any";

// `episodes`: in which some turn compiled, passed.
void write_any(const std::string& prefix, const Rates& episodes, Metrics& metrics) {
  metrics[prefix + kCompileRateAny] = episodes.compile_rate();
  metrics[prefix + kPassRateAny] = episodes.pass_rate();
}

// Goes over all turns once.
class Collector {
 public:
  explicit Collector(const std::vector<std::string>& terms)
      : terms_(terms), term_values_(terms.size()) {}

  void add(const Episode& episode) {
    bool any_compiled = false, any_passed = false;
    int played = 0;
    for (std::size_t t = 0; t < episode.turns.size(); ++t) {
      const TurnRecord& turn = episode.turns[t];
      if (turn.infra_error()) {
        infra_errors_ += episode.refused ? 0 : 1;
        unscored_ += turn.score.lost.empty() ? 0 : 1;
        continue;
      }
      ++played;
      add(turn);
      by_turn_[t + 1].add(turn.evaluation);
      by_tier_[episode.task->tier].add(turn.evaluation);
      any_compiled |= turn.evaluation.compiled();
      any_passed |= turn.evaluation.passed();
    }
    if (played == 0) return;
    best_.push_back(*episode.best_score());
    episodes_.add(any_compiled, any_passed);
    episodes_by_tier_[episode.task->tier].add(any_compiled, any_passed);
    turns_.push_back(played);
  }

  Metrics metrics(std::int64_t turns) const {
    Metrics m;
    for (const Row& row : rows())
      if (row.of_none || !scores_.empty()) m[row.name] = row.value(*this);
    if (scores_.empty()) return m;
    for (std::size_t i = 0; i < terms_.size(); ++i)
      m[fmt::format("reward/{}/mean", terms_[i])] = mean_of(term_values_[i]);
    all_.write("kernel/", m);
    write_any("kernel/", episodes_, m);
    for (std::size_t v = 0; v < verdicts_.size(); ++v)
      m[verdict_metric(v)] = verdicts_[v] / static_cast<double>(scores_.size());
    if (turns > 1) {
      for (const auto& [turn, kernels] : by_turn_) kernels.write(fmt::format("turn_{}/", turn), m);
    }
    for (const auto& [tier, kernels] : by_tier_) kernels.write(fmt::format("tier_{}/", tier), m);
    for (const auto& [tier, episodes] : episodes_by_tier_)
      write_any(fmt::format("tier_{}/", tier), episodes, m);
    m.insert(costs_.begin(), costs_.end());
    return m;
  }

  static void declare(MetricNames& names) {
    for (const Row& row : rows()) names.of_iterations.emplace_back(row.name);
    for (std::size_t v = 0; v < kVerdicts; ++v) names.of_iterations.push_back(verdict_metric(v));
  }

 private:
  static constexpr std::size_t kVerdicts = KRL_VERDICT_INFRA_ERROR;  // verdicts of candidates
  static std::string verdict_metric(std::size_t verdict) {
    return fmt::format("verdict/{}", name_of(static_cast<Verdict>(verdict)));
  }

  struct Row {
    const char* name;
    double (*value)(const Collector&);
    bool of_none = false;  // written even if no turn was played
  };
  static std::span<const Row> rows();

  void add(const TurnRecord& turn) {
    scores_.push_back(turn.score.total);
    for (std::size_t i = 0; i < terms_.size(); ++i) term_values_[i].push_back(turn.score.terms[i]);
    lengths_.push_back(static_cast<double>(turn.answer.tokens.size()));
    clipped_.push_back(turn.answer.stop_reason == KRL_STOP_LENGTH ? 1 : 0);
    reused_.push_back(turn.reused ? 1 : 0);
    ++verdicts_[static_cast<std::size_t>(turn.evaluation.verdict)];
    all_.add(turn.evaluation);
    if (!turn.reused) add_costs(turn.evaluation, costs_);
  }

  const std::vector<std::string>& terms_;
  std::vector<std::vector<double>> term_values_;
  std::vector<double> scores_, lengths_, clipped_, reused_, best_, turns_;
  std::array<double, kVerdicts> verdicts_{};  // turns
  int infra_errors_ = 0, unscored_ = 0;
  Metrics costs_;
  Kernels all_;
  std::map<std::size_t, Kernels> by_turn_;
  std::map<unsigned, Kernels> by_tier_;
  Rates episodes_;
  std::map<unsigned, Rates> episodes_by_tier_;
};

std::span<const Collector::Row> Collector::rows() {
  static constexpr Row kRows[] = {
      {"infra_errors", [](const Collector& c) { return 1.0 * c.infra_errors_; }, true},
      {"reward/lost", [](const Collector& c) { return 1.0 * c.unscored_; }, true},
      {"reward/mean", [](const Collector& c) { return mean_of(c.scores_); }},
      {"reward/std", [](const Collector& c) { return deviation_of(c.scores_); }},
      {"response_length/mean", [](const Collector& c) { return mean_of(c.lengths_); }},
      {"response_length/max",
       [](const Collector& c) { return *std::ranges::max_element(c.lengths_); }},
      {"response_length/clip_ratio", [](const Collector& c) { return mean_of(c.clipped_); }},
      {"episode/turns", [](const Collector& c) { return mean_of(c.turns_); }},
      {"episode/best_reward", [](const Collector& c) { return mean_of(c.best_); }},
      {"cache/hit_rate", [](const Collector& c) { return mean_of(c.reused_); }},
  };
  return kRows;
}

}  // namespace

void declare_rollout_metrics(MetricNames& names) {
  Kernels::declare(names);
  names.of_episodes = {kCompileRateAny, kPassRateAny};
  Collector::declare(names);
}

Metrics rollout_metrics(const std::vector<Episode>& episodes, const std::vector<std::string>& terms,
                        std::int64_t turns) {
  Collector collector(terms);
  for (const Episode& episode : episodes) collector.add(episode);
  return collector.metrics(turns);
}

}  // namespace krl::core
