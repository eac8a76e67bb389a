#include "core/learn/rollout_metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/metrics.hpp"
#include "core/learn/assessment.hpp"

namespace krl {
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
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Collects the kernels of one set of turns.
class Kernels {
 public:
  void add(const Evaluation& evaluation) {
    ++turns_;
    compiled_ += evaluation.compiled() ? 1 : 0;
    flagged_ += evaluation.verdict == Verdict::kFlagged ? 1 : 0;
    overfit_ += is_overfit(evaluation) ? 1 : 0;
    if (!evaluation.passed()) return;
    ++passed_;
    const double speedup = evaluation.speedup();
    if (!std::isfinite(speedup)) return;
    speedups_.push_back(speedup);
    if (const auto share = evaluation.value("roofline")) rooflines_.push_back(*share);
    if (const auto rival = evaluation.value("reference_speedup"); rival && *rival > 0) {
      log_reference_speedups_.push_back(std::log(*rival));
    }
    within_noise_ += is_within_noise(evaluation) ? 1 : 0;
  }

  void write(const std::string& prefix, Metrics& metrics) const {
    if (turns_ == 0) return;
    const double n = turns_;
    metrics[prefix + "compile_rate"] = compiled_ / n;
    metrics[prefix + "pass_rate"] = passed_ / n;
    metrics[prefix + "flagged"] = flagged_ / n;
    const double right_where_shown = passed_ + overfit_;
    if (right_where_shown > 0) metrics[prefix + "overfit_rate"] = overfit_ / right_where_shown;
    if (passed_ > 0 && speedups_.empty()) return;  // this backend does not time
    const auto timed = static_cast<double>(speedups_.size());
    if (timed < passed_) metrics[prefix + "timed"] = timed / passed_;
    metrics[prefix + "fast_1"] = faster_than(1) / n;
    metrics[prefix + "fast_2"] = faster_than(2) / n;
    if (speedups_.empty()) return;
    metrics[prefix + "within_noise"] = within_noise_ / timed;
    double logs = 0, capped = 0;
    for (const double s : speedups_) logs += std::log(s), capped += std::min(s, kSpeedupCap);
    metrics[prefix + "speedup_median"] = median_of(speedups_);
    metrics[prefix + "speedup_geomean"] = std::exp(logs / timed);
    metrics[prefix + "speedup_capped"] = capped / timed;
    if (!rooflines_.empty()) metrics[prefix + "roofline"] = mean_of(rooflines_);
    if (!log_reference_speedups_.empty())
      metrics[prefix + "reference_speedup"] = std::exp(mean_of(log_reference_speedups_));
  }

 private:
  double faster_than(double factor) const {
    return static_cast<double>(std::count_if(speedups_.begin(), speedups_.end(),
                                             [&](double s) { return is_fast(s, factor); }));
  }

  // Whether nothing says that the kernel is faster or slower than the baseline: the interval of
  // every timed case holds 1.
  static bool is_within_noise(const Evaluation& evaluation) {
    return std::all_of(evaluation.cases.begin(), evaluation.cases.end(), [](const Case& c) {
      return c.kind != CaseKind::kShown || !std::isfinite(c.speedup_low) ||
             (c.speedup_low <= 1 && c.speedup_high >= 1);
    });
  }

  int turns_ = 0, compiled_ = 0, passed_ = 0, overfit_ = 0, flagged_ = 0, within_noise_ = 0;
  std::vector<double> speedups_, rooflines_, log_reference_speedups_;
};

// Collects what some turn of an episode achieved.
class Attempts {
 public:
  void add(bool compiled, bool passed) {
    ++episodes_;
    compiled_ += compiled ? 1 : 0;
    passed_ += passed ? 1 : 0;
  }

  void write(const std::string& prefix, Metrics& metrics) const {
    metrics[prefix + "compile_rate_any"] = compiled_ / episodes_;
    metrics[prefix + "pass_rate_any"] = passed_ / episodes_;
  }

 private:
  double episodes_ = 0, compiled_ = 0, passed_ = 0;
};

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
    attempts_.add(any_compiled, any_passed);
    attempts_by_tier_[episode.task->tier].add(any_compiled, any_passed);
    turns_.push_back(played);
  }

  Metrics metrics(std::int64_t turns) const {
    Metrics m = {{"infra_errors", infra_errors_}, {"reward/lost", unscored_}};
    if (scores_.empty()) return m;
    m["reward/mean"] = mean_of(scores_);
    m["reward/std"] = deviation_of(scores_);
    for (std::size_t i = 0; i < terms_.size(); ++i)
      m[fmt::format("reward/{}/mean", terms_[i])] = mean_of(term_values_[i]);
    m["response_length/mean"] = mean_of(lengths_);
    m["response_length/max"] = *std::max_element(lengths_.begin(), lengths_.end());
    m["response_length/clip_ratio"] = mean_of(clipped_);
    m["episode/turns"] = mean_of(turns_);
    m["episode/best_reward"] = mean_of(best_);
    m["cache/hit_rate"] = mean_of(reused_);
    all_.write("kernel/", m);
    attempts_.write("kernel/", m);
    if (turns > 1) {
      for (const auto& [turn, kernels] : by_turn_) kernels.write(fmt::format("turn_{}/", turn), m);
    }
    for (const auto& [tier, kernels] : by_tier_) kernels.write(fmt::format("tier_{}/", tier), m);
    for (const auto& [tier, any] : attempts_by_tier_) any.write(fmt::format("tier_{}/", tier), m);
    return m;
  }

 private:
  void add(const TurnRecord& turn) {
    scores_.push_back(turn.score.total);
    for (std::size_t i = 0; i < terms_.size(); ++i) term_values_[i].push_back(turn.score.terms[i]);
    lengths_.push_back(static_cast<double>(turn.answer.tokens.size()));
    clipped_.push_back(turn.answer.stop_reason == StopReason::kLength ? 1 : 0);
    reused_.push_back(turn.reused ? 1 : 0);
    all_.add(turn.evaluation);
  }

  const std::vector<std::string>& terms_;
  std::vector<std::vector<double>> term_values_;
  std::vector<double> scores_, lengths_, clipped_, reused_, best_, turns_;
  int infra_errors_ = 0, unscored_ = 0;
  Kernels all_;
  std::map<std::size_t, Kernels> by_turn_;
  std::map<unsigned, Kernels> by_tier_;
  Attempts attempts_;
  std::map<unsigned, Attempts> attempts_by_tier_;
};

}  // namespace

Metrics rollout_metrics(const std::vector<Episode>& episodes, const std::vector<std::string>& terms,
                        std::int64_t turns) {
  Collector collector(terms);
  for (const Episode& episode : episodes) collector.add(episode);
  return collector.metrics(turns);
}

namespace {

// One bad iteration may be an accident of the network, and is still learned from.
constexpr std::size_t kMostInARow = 3;

// Of all turns, those that were lost to infrastructure.
double lost_share(const std::vector<Episode>& episodes) {
  double turns = 0, lost = 0;
  for (const Episode& episode : episodes) {
    for (const TurnRecord& turn : episode.turns) {
      const bool counts = !(turn.lost && episode.refused);
      turns += counts ? 1 : 0;
      lost += counts && turn.infra_error() ? 1 : 0;
    }
  }
  return turns == 0 ? 0 : lost / turns;
}

}  // namespace

Status Outage::add(const RolloutResult& rollout) {
  const double share = lost_share(rollout.episodes);
  if (share <= most_) {
    shares_.clear();
    return {};
  }
  if (shares_.empty()) first_ = rollout.lost;
  shares_.push_back(share);
  if (shares_.size() < kMostInARow) return {};
  return failure(first_->code,
                 fmt::format("{} iterations in a row lost more of their turns to infrastructure "
                             "than run.max_infra_share = {} ({:.2f}), the first as {}\nset that "
                             "right and go on with the run",
                             shares_.size(), most_, fmt::join(shares_, ", "), first_->message));
}

}  // namespace krl
