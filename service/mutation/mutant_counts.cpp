#include "service/mutation/mutant_counts.hpp"

#include <fmt/format.h>

#include <numeric>

namespace krl::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr Fate kShown[] = {Fate::kRefused, Fate::kRefusedByPool, Fate::kSurvived, Fate::kClose,
                           Fate::kBeyond,  Fate::kLucky,         Fate::kSame,     Fate::kUnproved};

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 1 : static_cast<double>(part) / static_cast<double>(all);
}

Json json_of(const FateCounts& counts) {
  Json json = {{"programs", counts.programs()}};
  for (std::size_t f = 0; f < kFates; ++f)
    json[std::string(name_of(static_cast<Fate>(f)))] = counts.of[f];
  json["refused_share"] = counts.refused_share();
  json["refused_with_pool_share"] = counts.refused_with_pool_share();
  return json;
}

Json json_of(const std::map<std::string, FateCounts>& counts) {
  Json json = Json::object();
  for (const auto& [name, of_name] : counts) json[name] = json_of(of_name);
  return json;
}

std::vector<std::string> row_of(const std::string& name, const FateCounts& counts) {
  std::vector<std::string> row = {name, std::to_string(counts.programs())};
  for (const Fate fate : kShown) row.push_back(std::to_string(counts[fate]));
  row.push_back(fmt::format("{:.2f} %", 100 * counts.refused_share()));
  row.push_back(fmt::format("{:.2f} %", 100 * counts.refused_with_pool_share()));
  return row;
}

}  // namespace

std::size_t FateCounts::programs() const {
  return std::accumulate(of.begin(), of.end(), std::size_t{0}) - (*this)[Fate::kInvalid];
}

std::size_t FateCounts::wrong() const {
  return (*this)[Fate::kRefused] + (*this)[Fate::kRefusedByPool] + (*this)[Fate::kSurvived];
}

double FateCounts::refused_share() const { return share((*this)[Fate::kRefused], wrong()); }

double FateCounts::refused_with_pool_share() const {
  return share(wrong() - (*this)[Fate::kSurvived], wrong());
}

void MutantCounts::add(const std::string& task, std::string_view kind, Fate fate) {
  by_task[task].add(fate);
  by_kind[std::string(kind)].add(fate);
  all.add(fate);
}

Json to_json(const MutantCounts& counts) {
  return {{"all", json_of(counts.all)},
          {"by_task", json_of(counts.by_task)},
          {"by_kind", json_of(counts.by_kind)}};
}

std::vector<std::vector<std::string>> rows_of(const std::map<std::string, FateCounts>& counts,
                                              const FateCounts& all, const std::string& title) {
  std::vector<std::vector<std::string>> rows = {{title, "PROGRAMS", "REFUSED", "BY POOL",
                                                 "SURVIVED", "CLOSE", "BEYOND", "LUCKY", "SAME",
                                                 "UNPROVED", "REFUSED", "WITH POOL"}};
  for (const auto& [name, of_name] : counts) rows.push_back(row_of(name, of_name));
  rows.push_back(row_of("all", all));
  return rows;
}

}  // namespace krl::service
