#include "core/learn/stagnation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace krl::core {
namespace {

constexpr int kFirstWarning = 3;          // iterations; one or two may be bad luck
constexpr std::size_t kMostVerdicts = 3;  // named in a warning

// Returns advice for a run in which most kernels end this way.
const char* remedy(Verdict most) {
  if (most == Verdict::kOk)
    return "kernels pass and score the same: reward speed (reward 'speedup'), or add harder tasks";
  if (most == Verdict::kFormatError)
    return "few answers have a kernel in the form that is asked for: warm up longer or with more "
           "pairs, pay for the form (reward 'format'), or raise rollout.max_tokens if answers are "
           "cut off";
  if (most == Verdict::kCompileError)
    return "few kernels compile: warm up longer or with more pairs, or pay for compiling (reward "
           "'compile')";
  return "few kernels pass: begin with easier tasks (curriculum), pay for partial success (reward "
         "'correctness' with mode = \"partial\"), or raise rollout.group_size or temperature";
}

}  // namespace

std::optional<std::string> Stagnation::add(const std::vector<Episode>& episodes, bool learned) {
  if (learned) {
    *this = {};
    return std::nullopt;
  }
  for (const Episode& episode : episodes) {
    for (const TurnRecord& turn : episode.turns)
      if (!turn.infra_error()) ++verdicts_[static_cast<std::size_t>(turn.evaluation.verdict)];
  }
  ++in_a_row_;
  const bool tells = in_a_row_ % kFirstWarning == 0 &&
                     (in_a_row_ / kFirstWarning & (in_a_row_ / kFirstWarning - 1)) == 0;
  return tells ? std::optional(warning()) : std::nullopt;
}

std::string Stagnation::warning() const {
  std::vector<std::size_t> order(verdicts_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return verdicts_[i]; });
  std::vector<std::string> frequent;
  for (const std::size_t i : order) {
    if (verdicts_[i] > 0 && frequent.size() < kMostVerdicts)
      frequent.push_back(fmt::format("{} {}", name_of(static_cast<Verdict>(i)), verdicts_[i]));
  }
  return fmt::format(
      "nothing was learned in {} iterations: in no group did the returns differ; most frequent "
      "verdicts: {}; {}; samples/ has the answers and reasons",
      in_a_row_, fmt::join(frequent, ", "), remedy(static_cast<Verdict>(order.front())));
}

}  // namespace krl::core
