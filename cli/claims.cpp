#include "cli/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/console.hpp"

namespace krl::cli {

using Json = nlohmann::ordered_json;

Json to_json(const Claim& claim) {
  return {{"correct", claim.correct ? Json(*claim.correct) : Json()},
          {"speedup", claim.speedup ? Json(*claim.speedup) : Json()}};
}

Claim claim_of(const Json& json) {
  Claim claim;
  if (!json.is_object()) return claim;
  if (const auto it = json.find("correct"); it != json.end() && it->is_boolean())
    claim.correct = it->get<bool>();
  if (const auto it = json.find("speedup"); it != json.end() && it->is_number())
    claim.speedup = it->get<double>();
  return claim;
}

void Claims::add(const std::string& group, const Claim& claim, std::optional<bool> right,
                 double speedup) {
  if (claim.correct) {
    Count& count = counts_[{group, !*claim.correct}];
    ++(!right ? count.not_run : *right ? count.right : count.wrong);
  }
  if (!claim.speedup || !(*claim.speedup > 0) || right != true || !std::isfinite(speedup)) return;
  shares_.push_back(speedup / *claim.speedup);
  claimed_faster_ += *claim.speedup > 1 ? 1 : 0;
  faster_ += *claim.speedup > 1 && speedup > 1 ? 1 : 0;
}

std::string Claims::describe() const {
  std::string text;
  if (!counts_.empty()) {
    std::vector<std::vector<std::string>> rows = {{"CLAIM", "ROWS", "RIGHT", "WRONG", "NOT RUN"}};
    for (const auto& [about, count] : counts_) {
      const auto& [group, wrong] = about;
      rows.push_back({group + (wrong ? " wrong" : " correct"),
                      std::to_string(count.right + count.wrong + count.not_run),
                      std::to_string(count.right), std::to_string(count.wrong),
                      std::to_string(count.not_run)});
    }
    text = columns(rows);
  }
  if (shares_.empty()) return text;
  std::vector<double> sorted = shares_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return text + fmt::format(
                    "speedups: of {} right kernels that claim more than 1, {} are faster than the "
                    "baseline here; measured / claimed of {}: median {:.2f}\n",
                    claimed_faster_, faster_, sorted.size(), *middle);
}

}  // namespace krl::cli
