// Follows what a run finds: the best kernels of its tasks so far, how often something better comes,
// and how varied its answers are.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/episode/episode.hpp"
#include "core/measure/mechanisms.hpp"

namespace krl::core {

// A kernel is a record if it is more than this factor faster than all before it.
inline constexpr double kRecordFactor = 1.02;

// One for a whole run; its state goes into checkpoints. One thread.
class Discovery {
 public:
  // `withheld`: cells that the pairs of the warm start do not show.
  explicit Discovery(std::set<Cell> withheld = {}) : withheld_(std::move(withheld)) {}

  // Takes in the episodes of an iteration, and returns its metrics:
  //   found/{records,tasks,best_speedup,best_roofline,answers,strategies}   of the run so far, but
  //       the records of the iteration
  //   answers/{new,distinct,distinct_in_group}, sampler/entropy
  //   strategy/NAME             share of the right kernels, by what was executed
  //   best_at_K/FIGURE          K = 2, 4, … up to the episodes of a task
  //   withheld/{cells,filled,answers}   if any are: how many, those with a right kernel so far, and
  //       the share of the iteration's right kernels that are in one
  //   withheld/TASK/MECHANISM   right kernels in the cell so far
  //   task/ID/{pass_rate,best_speedup,best_roofline}
  // Figures that nothing measured are left out.
  // `tuned`: episodes with kernels that no policy wrote. What they found counts, and nothing else.
  Metrics add(const std::vector<Episode>& episodes, const std::vector<Episode>& tuned = {});

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  struct Best {
    double speedup = 0, roofline = 0;  // 0: none is known
  };
  double add_kernels(const std::vector<Episode>& episodes);
  void add_cells(const std::vector<Episode>& episodes, const std::vector<Episode>& tuned,
                 Metrics& metrics);
  void add_answers(const std::vector<Episode>& episodes, Metrics& metrics);
  void write_found(const std::vector<Episode>& episodes, Metrics& metrics) const;

  std::set<Cell> withheld_;
  std::map<Cell, double> filled_;     // right kernels in each
  std::map<std::string, Best> best_;  // by task; those with a right kernel
  std::set<std::string> strategies_;  // "TASK: STRATEGIES", each combination of a right kernel once
  std::unordered_set<std::uint64_t> seen_;  // hashes of the distinct answers
  double answers_ = 0;                      // all of them
};

// Declares the metrics that conditions may name.
void declare_discovery_metrics(MetricNames& names);

}  // namespace krl::core
