#include "core/learn/curriculum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "core/base/hash.hpp"
#include "core/learn/training_set.hpp"

namespace krl::core {
namespace {

double mean_of_last(const std::vector<double>& values, std::int64_t n) {
  return std::accumulate(values.end() - n, values.end(), 0.0) / static_cast<double>(n);
}

}  // namespace

Curriculum::Curriculum(const CurriculumSettings& settings, TaskChoice choice,
                       const std::vector<Task>& tasks, std::uint64_t seed)
    : settings_(settings), choice_(choice), tasks_(tasks), seed_(seed) {
  for (const Task& task : tasks) last_tier_ = std::max<std::int64_t>(last_tier_, task.tier);
  open_tier_ = settings.enabled ? std::min(settings.first_tier, last_tier_) : last_tier_;
  while (pool(0, open_tier_).empty() && open_tier_ < last_tier_) ++open_tier_;
}

std::vector<const Task*> Curriculum::pool(std::int64_t lowest, std::int64_t highest) const {
  std::vector<const Task*> found;
  for (const Task& task : tasks_) {
    const std::int64_t tier = task.tier;
    if (tier >= lowest && tier <= highest) found.push_back(&task);
  }
  return found;
}

// With an even choice, takes the next tasks from an endless sequence of shuffles of the pool.
std::vector<const Task*> Curriculum::take(const std::vector<const Task*>& pool, std::int64_t round,
                                          std::int64_t count) const {
  if (choice_ == TaskChoice::kLearnable)
    return learnability_.draw(pool, static_cast<std::size_t>(count),
                              seed_for(seed_, "choice", round));
  const std::int64_t first = (round - 1) * count;
  std::vector<const Task*> chosen;
  const auto n = static_cast<std::int64_t>(pool.size());
  std::vector<std::size_t> order;
  std::int64_t shuffled = -1;
  for (std::int64_t i = first; i < first + count; ++i) {
    if (i / n != shuffled) {
      shuffled = i / n;
      order = permutation(pool.size(), seed_for(seed_, "curriculum", shuffled, n));
    }
    chosen.push_back(pool[order[static_cast<std::size_t>(i % n)]]);
  }
  return chosen;
}

std::vector<const Task*> Curriculum::choose(std::int64_t round, std::int64_t count) const {
  if (!settings_.enabled) return take(pool(0, last_tier_), round, count);
  const std::vector<const Task*> newest = pool(open_tier_, open_tier_);
  const std::vector<const Task*> earlier = pool(0, open_tier_ - 1);
  std::int64_t n_earlier = std::llround(settings_.earlier_share * static_cast<double>(count));
  if (earlier.empty()) n_earlier = 0;
  if (newest.empty()) n_earlier = count;
  std::vector<const Task*> chosen;
  if (n_earlier < count) chosen = take(newest, round, count - n_earlier);
  if (n_earlier > 0) {
    const std::vector<const Task*> old = take(earlier, round, n_earlier);
    chosen.insert(chosen.end(), old.begin(), old.end());
  }
  return chosen;
}

std::vector<const Task*> Curriculum::spares(std::int64_t round, std::int64_t count,
                                            const std::vector<const Task*>& chosen) const {
  const std::vector<const Task*> open = pool(0, open_tier_);
  std::vector<const Task*> others = open;
  std::erase_if(others,
                [&](const Task* task) { return std::ranges::find(chosen, task) != chosen.end(); });
  const auto wanted = static_cast<std::size_t>(count);
  const std::uint64_t seed = seed_for(seed_, "spares", round);
  std::vector<const Task*> spares =
      learnability_.draw(others, std::min(wanted, others.size()), seed);
  const auto again = learnability_.draw(open, wanted - spares.size(), seed);
  spares.insert(spares.end(), again.begin(), again.end());
  return spares;
}

void Curriculum::observe(const Task& task, bool differed) {
  if (choice_ == TaskChoice::kLearnable) learnability_.observe(task.id, differed);
}

bool Curriculum::update(const Metrics& metrics) {
  if (!settings_.enabled || open_tier_ >= last_tier_) return false;
  const auto compile = metrics.find(fmt::format("tier_{}/compile_rate_any", open_tier_));
  const auto pass = metrics.find(fmt::format("tier_{}/pass_rate_any", open_tier_));
  if (compile == metrics.end() || pass == metrics.end()) return false;
  compile_rates_.push_back(compile->second);
  pass_rates_.push_back(pass->second);
  const std::int64_t window = settings_.window;
  if (static_cast<std::int64_t>(pass_rates_.size()) < window) return false;
  if (mean_of_last(compile_rates_, window) <= settings_.compile_rate ||
      mean_of_last(pass_rates_, window) <= settings_.pass_rate) {
    return false;
  }
  do {
    ++open_tier_;
  } while (open_tier_ < last_tier_ && pool(open_tier_, open_tier_).empty());
  compile_rates_.clear();
  pass_rates_.clear();
  return true;
}

nlohmann::json Curriculum::state() const {
  return {{"open_tier", open_tier_},
          {"compile_rates", compile_rates_},
          {"pass_rates", pass_rates_},
          {"learnability", learnability_.state()}};
}

void Curriculum::restore(const nlohmann::json& state) {
  open_tier_ = state.at("open_tier").get<std::int64_t>();
  compile_rates_ = state.at("compile_rates").get<std::vector<double>>();
  pass_rates_ = state.at("pass_rates").get<std::vector<double>>();
  if (const auto known = state.find("learnability"); known != state.end())
    learnability_.restore(*known);
}

}  // namespace krl::core
