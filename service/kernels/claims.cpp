#include "service/kernels/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace krl::service {

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

std::vector<std::vector<std::string>> Claims::rows() const {
  if (counts_.empty()) return {};
  std::vector<std::vector<std::string>> rows = {{"CLAIM", "ROWS", "RIGHT", "WRONG", "NOT RUN"}};
  for (const auto& [about, count] : counts_) {
    const auto& [group, wrong] = about;
    rows.push_back({group + (wrong ? " wrong" : " correct"),
                    std::to_string(count.right + count.wrong + count.not_run),
                    std::to_string(count.right), std::to_string(count.wrong),
                    std::to_string(count.not_run)});
  }
  return rows;
}

std::string Claims::describe_speedups() const {
  if (shares_.empty()) return {};
  std::vector<double> sorted = shares_;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t size = sorted.size();
  const double median = (sorted[(size - 1) / 2] + sorted[size / 2]) / 2;
  return fmt::format(
      "right kernels that claim a speedup above 1: {}, faster than the baseline here: "
      "{}\nmedian of measured / claimed speedup over {} kernel{}: {:.2f}\n",
      claimed_faster_, faster_, size, size == 1 ? "" : "s", median);
}

}  // namespace krl::service
