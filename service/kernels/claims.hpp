// Compares what tables claim of their kernels with the evaluations here. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace krl::service {

struct Claim {
  std::optional<bool> correct;
  std::optional<double> speedup;  // over the table's own baseline

  bool empty() const { return !correct && !speedup; }
};

// {"correct": true, "speedup": 1.5}; null: not claimed.
nlohmann::ordered_json to_json(const Claim& claim);
Claim claim_of(const nlohmann::ordered_json& json);

// The results of the kernels that claim something. Memory: 16 bytes for each that is right and
// timed.
class Claims {
 public:
  // right: it passed, none: it did not run. speedup: NaN if it was not timed. `group`: of the task,
  // such as its level.
  void add(const std::string& group, const Claim& claim, std::optional<bool> right, double speedup);

  // A row for each group and claim under a heading; none if nothing was claimed.
  std::vector<std::vector<std::string>> rows() const;
  // Describes how claimed speedups compare with those measured; empty if none do.
  std::string describe_speedups() const;

 private:
  struct Count {
    std::size_t right = 0, wrong = 0, not_run = 0;
  };

  std::map<std::pair<std::string, bool>, Count> counts_;  // by group, and by a claim of "wrong"
  std::vector<double> shares_;                            // measured speedup over the claimed one
  std::size_t claimed_faster_ = 0, faster_ = 0;
};

}  // namespace krl::service
