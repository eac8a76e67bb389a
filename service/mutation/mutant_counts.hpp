// Counts the fates of mutants by task, by kind of change and in all. Values of one thread.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "service/mutation/mutant_judge.hpp"

namespace krl::service {

struct FateCounts {
  std::array<std::size_t, kFates> of = {};

  std::size_t operator[](Fate fate) const { return of[static_cast<std::size_t>(fate)]; }
  void add(Fate fate) { ++of[static_cast<std::size_t>(fate)]; }
  std::size_t programs() const;  // all but the invalid ones
  // Known to be wrong: refused by something.
  std::size_t wrong() const;
  // Returns the share of those that one ordinary evaluation refuses, or it and the whole pool; 1 if
  // there are none.
  double refused_share() const;
  double refused_with_pool_share() const;
};

struct MutantCounts {
  std::map<std::string, FateCounts> by_task, by_kind;
  FateCounts all;

  void add(const std::string& task, std::string_view kind, Fate fate);
};

nlohmann::ordered_json to_json(const MutantCounts& counts);

// A row for each name, and one of all; the first is the head, which begins with `title`.
std::vector<std::vector<std::string>> rows_of(const std::map<std::string, FateCounts>& counts,
                                              const FateCounts& all, const std::string& title);

}  // namespace krl::service
