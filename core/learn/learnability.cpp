#include "core/learn/learnability.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/hash.hpp"

namespace krl::core {
namespace {

constexpr double kNewest = 0.5, kLeast = 0.1;

}  // namespace

void Learnability::observe(const std::string& task, bool differed) {
  double& share = differed_.try_emplace(task, 1.0).first->second;
  share += kNewest * ((differed ? 1 : 0) - share);
}

double Learnability::of(const std::string& task) const {
  const auto known = differed_.find(task);
  return known == differed_.end() ? 1 : std::max(kLeast, known->second);
}

// An exponential race: the first of all is each task with a probability in proportion to its
// weight, and so on among the others (Efraimidis and Spirakis, 2006).
std::vector<const Task*> Learnability::draw(const std::vector<const Task*>& pool, std::size_t count,
                                            std::uint64_t seed) const {
  std::vector<const Task*> drawn;
  for (int round = 0; drawn.size() < count; ++round) {
    std::vector<std::pair<double, const Task*>> race;
    for (const Task* task : pool) {
      const double u = uniform_of(seed_for(seed, "draw", round, task->id));
      race.emplace_back(-std::log(u) / of(task->id), task);
    }
    std::ranges::sort(race, [](const auto& a, const auto& b) {
      return a.first < b.first || (a.first == b.first && a.second->id < b.second->id);
    });
    for (const auto& [time, task] : race)
      if (drawn.size() < count) drawn.push_back(task);
  }
  return drawn;
}

nlohmann::json Learnability::state() const { return differed_; }

void Learnability::restore(const nlohmann::json& state) {
  differed_ = state.get<std::map<std::string, double>>();
}

}  // namespace krl::core
