// A measurement of a policy: its figures on a set of tasks, from several episodes of each. Plain
// data and pure functions; any thread.
//
// The value of an episode after a turn is that of the best kernel up to then, which a user who
// stops there would take. A kernel that is not correct has the speedup 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/episode/episode.hpp"

namespace krl::core {

// A figure for every k: the average best of k episodes (`best_at_k`). At k = 1 it is the mean over
// the episodes, avg@k for any k. For a set: the mean over its tasks.
using AtK = std::map<std::size_t, double>;

// The factors p of fast_p: correct, and more than p times as fast as the baseline (KernelBench,
// Ouyang et al., arXiv 2502.10517; there a share of the tasks, here at every k).
inline constexpr double kFastFactors[] = {0.5, 1, 1.5, 2};

// By name: passed (some kernel is correct: pass@k) and score (the plan's). Over the episodes whose
// correct kernels have a time, if any has: speedup over the baseline, and fast_p for each p. Over
// those whose correct kernels have one: roofline, the share of it.
using Figures = std::map<std::string, AtK>;

struct TaskMeasurement {
  std::string id;
  unsigned tier = 0;
  int episodes = 0;  // episodes with an evaluated turn
  Figures figures;
};

// The numbers of kernels, or episodes, of a set that compiled and passed.
struct Rates {
  int count = 0, compiled = 0, passed = 0;

  void add(bool has_compiled, bool has_passed) {
    ++count;
    compiled += has_compiled ? 1 : 0;
    passed += has_passed ? 1 : 0;
  }
  // 0 of none.
  double compile_rate() const { return share(compiled); }
  double pass_rate() const { return share(passed); }
  double share(double part) const { return part / std::max(count, 1); }
};

struct TurnMeasurement {
  Rates kernels;   // evaluated; episodes may end earlier
  Figures so_far;  // over all episodes, up to this turn
};

struct Measurement {
  std::string name;  // name of the set: "train", "holdout/templates"
  int episodes = 0;
  int infra_errors = 0;      // turns that were not answered or could not be evaluated
  std::string first_error;   // why the first of them was not
  int untimed = 0;           // episodes with correct kernels, none of them timed
  int wrong_on_holdout = 0;  // kernels that passed but on shapes that no training shows
  Figures figures;           // after the last turn
  std::vector<TurnMeasurement> turns;
  std::vector<TaskMeasurement> tasks;  // in the order of the episodes
  Metrics retrieval;                   // RetrievalReport::metrics(); empty: nothing is retrieved
};

// Measures a set. `ks`: rising, each at least 1. For a k above the number of a task's episodes, all
// of them count; a task without any is left out. `turns`: the most that an episode may have.
Measurement measurement_of(std::string name, const std::vector<Episode>& episodes,
                           const std::vector<std::size_t>& ks, std::int64_t turns);

nlohmann::json to_json(const Measurement& measurement);

// True if a correct kernel counts for fast_p: more than p times as fast as the baseline
// (KernelBench, Ouyang et al., arXiv 2502.10517). A time equal to the baseline's is not faster than
// it.
inline bool is_fast(double speedup, double p) { return speedup > p; }

}  // namespace krl::core
