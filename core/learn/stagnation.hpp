// Notices a run that learns nothing: iterations in a row of which no turn was learned from.
// Belongs to a stage; one thread.
#pragma once

#include <array>
#include <kernelrl/evaluation.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/episode/episode.hpp"

namespace krl::core {

class Stagnation {
 public:
  // Counts an iteration. Returns what to tell the user after the third in a row that was not
  // `learned` from, and again whenever their number has doubled.
  std::optional<std::string> add(const std::vector<Episode>& episodes, bool learned);

 private:
  std::string warning() const;

  int in_a_row_ = 0;
  // Counts over the turns of these iterations.
  std::array<int, KRL_VERDICT_INFRA_ERROR + 1> verdicts_{};
};

}  // namespace krl::core
