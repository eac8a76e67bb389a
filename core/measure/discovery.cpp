#include "core/measure/discovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/hash.hpp"
#include "core/episode/feedback.hpp"
#include "core/measure/measurement.hpp"

namespace krl::core {
namespace {

constexpr const char* kDiscoveryMetrics[] = {
    "found/records",       "found/tasks",      "found/best_speedup",
    "found/best_roofline", "found/answers",    "found/strategies",
    "answers/new",         "answers/distinct", "answers/distinct_in_group",
    "sampler/entropy",     "withheld/cells",   "withheld/filled",
    "withheld/answers"};

template <class Use>
void for_each_turn(const std::vector<Episode>& episodes, const Use& use) {
  for (const Episode& episode : episodes) {
    for (const TurnRecord& turn : episode.turns)
      if (!turn.infra_error()) use(episode, turn);
  }
}

constexpr std::size_t kDigits = 16;  // hexadecimal ones that write a hash

// Answers are the same if their kernels are; those without one, if their texts are.
std::uint64_t hash_of(const Episode& episode, const TurnRecord& turn) {
  const std::string& source = turn.candidate.source;
  const std::string text = episode.task->id + "\n" + (source.empty() ? turn.answer.text : source);
  return std::stoull(sha256_hex(text).substr(0, kDigits), nullptr, 16);
}

// The mean entropy of a token's prediction, estimated from the tokens that were drawn.
void write_entropy(const std::vector<Episode>& episodes, Metrics& metrics) {
  double sum = 0, tokens = 0;
  for_each_turn(episodes, [&](const Episode&, const TurnRecord& turn) {
    for (std::size_t t = 0; t < turn.answer.logprobs.size(); ++t) {
      const auto at = static_cast<std::int64_t>(t);
      if (at >= turn.answer.given_begin && at < turn.answer.given_end) continue;
      sum -= turn.answer.logprobs[t];
      ++tokens;
    }
  });
  if (tokens > 0) metrics["sampler/entropy"] = sum / tokens;
}

void write_strategies(const std::vector<Episode>& episodes, Metrics& metrics) {
  double right = 0;
  std::map<std::string, double> shares;
  for_each_turn(episodes, [&](const Episode&, const TurnRecord& turn) {
    if (!turn.evaluation.passed()) return;
    ++right;
    for (const std::string_view strategy : strategies_of(turn.evaluation))
      ++shares[std::string(strategy)];
  });
  for (const auto& [strategy, count] : shares) {
    std::string name = strategy;
    std::ranges::replace(name, ' ', '_');
    metrics["strategy/" + name] = count / right;
  }
}

void write_best_at_k(const std::vector<Episode>& episodes, Metrics& metrics) {
  std::map<const Task*, std::size_t> counts;
  std::size_t turns = 1, most = 0;
  for (const Episode& episode : episodes) {
    most = std::max(most, ++counts[episode.task]);
    turns = std::max(turns, episode.turns.size());
  }
  std::vector<std::size_t> ks;
  for (std::size_t k = 2; k <= most; k *= 2) ks.push_back(k);
  const Measurement measured = measurement_of("", episodes, ks, static_cast<std::int64_t>(turns));
  for (const char* name : {"passed", "score", "speedup", "roofline"}) {
    const auto figure = measured.figures.find(name);
    if (figure == measured.figures.end()) continue;
    for (const auto& [k, value] : figure->second)
      metrics[fmt::format("best_at_{}/{}", k, name)] = value;
  }
}

void write_pass_rates(const std::vector<Episode>& episodes, Metrics& metrics) {
  std::map<std::string, Rates> tasks;
  for_each_turn(episodes, [&](const Episode& episode, const TurnRecord& turn) {
    tasks[episode.task->id].add(turn.evaluation.compiled(), turn.evaluation.passed());
  });
  for (const auto& [id, rates] : tasks) metrics["task/" + id + "/pass_rate"] = rates.pass_rate();
}

}  // namespace

Metrics Discovery::add(const std::vector<Episode>& episodes, const std::vector<Episode>& tuned) {
  Metrics metrics;
  metrics["found/records"] = add_kernels(episodes);
  if (!tuned.empty()) metrics["found/records"] += add_kernels(tuned);
  if (!withheld_.empty()) add_cells(episodes, tuned, metrics);
  add_answers(episodes, metrics);
  write_found(episodes, metrics);
  write_entropy(episodes, metrics);
  write_strategies(episodes, metrics);
  write_best_at_k(episodes, metrics);
  write_pass_rates(episodes, metrics);
  return metrics;
}

// Returns the number of records among them.
double Discovery::add_kernels(const std::vector<Episode>& episodes) {
  double records = 0;
  for_each_turn(episodes, [&](const Episode& episode, const TurnRecord& turn) {
    if (!turn.evaluation.passed()) return;
    const std::string& task = episode.task->id;
    strategies_.insert(task + ": " + describe_strategies(turn.evaluation));
    const auto better = [](double value, double& best) {
      if (std::isfinite(value)) best = std::max(best, value);
    };
    Best& best = best_[task];
    records += turn.evaluation.speedup() > kRecordFactor * best.speedup ? 1 : 0;
    better(turn.evaluation.speedup(), best.speedup);
    better(turn.evaluation.value("roofline").value_or(0), best.roofline);
  });
  return records;
}

void Discovery::add_cells(const std::vector<Episode>& episodes, const std::vector<Episode>& tuned,
                          Metrics& metrics) {
  double right = 0, within = 0;
  const auto fill = [&](const Episode& episode, const TurnRecord& turn) {
    bool any = false;
    for (const std::string_view mechanism : mechanisms_of(turn.evaluation)) {
      const Cell cell{episode.task->id, std::string(mechanism)};
      if (!withheld_.contains(cell)) continue;
      ++filled_[cell];
      any = true;
    }
    return any;
  };
  for_each_turn(tuned, fill);
  for_each_turn(episodes, [&](const Episode& episode, const TurnRecord& turn) {
    right += turn.evaluation.passed() ? 1 : 0;
    within += fill(episode, turn) ? 1 : 0;
  });
  metrics["withheld/cells"] = static_cast<double>(withheld_.size());
  metrics["withheld/filled"] = static_cast<double>(filled_.size());
  if (right > 0) metrics["withheld/answers"] = within / right;
  for (const auto& [cell, kernels] : filled_)
    metrics["withheld/" + cell.task + "/" + cell.mechanism] = kernels;
}

void Discovery::add_answers(const std::vector<Episode>& episodes, Metrics& metrics) {
  double count = 0, fresh = 0;
  std::map<GroupId, std::pair<std::set<std::uint64_t>, double>> groups;  // distinct, all
  for_each_turn(episodes, [&](const Episode& episode, const TurnRecord& turn) {
    const std::uint64_t hash = hash_of(episode, turn);
    auto& [distinct, all] = groups[episode.group];
    distinct.insert(hash);
    ++all;
    ++count;
    fresh += seen_.insert(hash).second ? 1 : 0;
  });
  if (count == 0) return;
  answers_ += count;
  std::vector<double> shares;
  for (const auto& [group, answers] : groups)
    shares.push_back(static_cast<double>(answers.first.size()) / answers.second);
  metrics["answers/new"] = fresh / count;
  metrics["answers/distinct"] = static_cast<double>(seen_.size()) / answers_;
  metrics["answers/distinct_in_group"] = mean_of(shares);
}

void Discovery::write_found(const std::vector<Episode>& episodes, Metrics& metrics) const {
  std::vector<double> logs, shares;
  for (const auto& [task, best] : best_) {
    if (best.speedup > 0) logs.push_back(std::log(best.speedup));
    if (best.roofline > 0) shares.push_back(best.roofline);
  }
  metrics["found/tasks"] = static_cast<double>(best_.size());
  metrics["found/answers"] = static_cast<double>(seen_.size());
  metrics["found/strategies"] = static_cast<double>(strategies_.size());
  if (!logs.empty()) metrics["found/best_speedup"] = std::exp(mean_of(logs));
  if (!shares.empty()) metrics["found/best_roofline"] = mean_of(shares);
  for (const Episode& episode : episodes) {
    const auto best = best_.find(episode.task->id);
    if (best == best_.end()) continue;
    const std::string prefix = "task/" + best->first;
    if (best->second.speedup > 0) metrics[prefix + "/best_speedup"] = best->second.speedup;
    if (best->second.roofline > 0) metrics[prefix + "/best_roofline"] = best->second.roofline;
  }
}

nlohmann::json Discovery::state() const {
  nlohmann::json best = nlohmann::json::object();
  for (const auto& [task, b] : best_) best[task] = {b.speedup, b.roofline};
  std::vector<std::uint64_t> sorted(seen_.begin(), seen_.end());
  std::ranges::sort(sorted);
  std::string hashes;
  for (const std::uint64_t hash : sorted)
    fmt::format_to(std::back_inserter(hashes), "{:016x}", hash);
  nlohmann::json filled = nlohmann::json::array();
  for (const auto& [cell, kernels] : filled_)
    filled.push_back({cell.task, cell.mechanism, kernels});
  return {{"best", best},
          {"strategies", strategies_},
          {"seen", hashes},
          {"answers", answers_},
          {"filled", filled}};
}

void Discovery::restore(const nlohmann::json& state) {
  for (const auto& [task, figures] : state.at("best").items())
    best_[task] = {figures.at(0), figures.at(1)};
  strategies_ = state.at("strategies").get<std::set<std::string>>();
  const std::string hashes = state.at("seen");
  for (std::size_t at = 0; at + kDigits <= hashes.size(); at += kDigits) {
    std::uint64_t hash = 0;
    std::from_chars(hashes.data() + at, hashes.data() + at + kDigits, hash, 16);
    seen_.insert(hash);
  }
  answers_ = state.at("answers");
  for (const nlohmann::json& filled : state.value("filled", nlohmann::json::array()))
    filled_[{filled.at(0), filled.at(1)}] = filled.at(2);
}

void declare_discovery_metrics(MetricNames& names) {
  for (const char* name : kDiscoveryMetrics) names.of_iterations.emplace_back(name);
  names.families = {"strategy/", "best_at_", "task/", "withheld/"};
}

}  // namespace krl::core
