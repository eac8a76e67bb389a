#include "core/measure/mechanisms.hpp"

#include <nlohmann/json.hpp>

namespace krl::core {
namespace {

// The values of that name of the cases, each once.
std::set<double> distinct(const Evaluation& evaluation, std::string_view name) {
  std::set<double> values;
  for (const Value& value : evaluation.values)
    if (value.name == name && value.case_index >= 0) values.insert(value.value);
  return values;
}

// All cases, which differ in their sizes, have the same number of blocks, more than one a launch.
bool has_fixed_grid(const Evaluation& evaluation, double launches) {
  const std::set<double> blocks = distinct(evaluation, "blocks");
  return evaluation.cases.size() > 1 && blocks.size() == 1 && *blocks.begin() > launches;
}

}  // namespace

std::vector<std::string_view> mechanisms_of(const Evaluation& evaluation) {
  if (!evaluation.passed()) return {};
  const auto value = [&](const char* name) { return evaluation.value(name).value_or(0); };
  const double launches =
      evaluation.value("launches").value_or(static_cast<double>(evaluation.kernels.size()));
  const bool shared = evaluation.max_shared_bytes() > 0 || value("shared_bytes") > 0;
  // Where the two are not counted separately, an atomic beside shared memory counts as one in it.
  const bool shared_atomics =
      evaluation.value("shared_atomics").value_or(shared ? value("atomics") : 0) > 0;
  const double global_atomics = evaluation.value("global_atomics").value_or(value("atomics"));
  const bool joins_warps = shared && value("barriers") > 0;
  std::vector<std::string_view> found;
  if (has_fixed_grid(evaluation, launches)) found.push_back("grid_stride");
  if (value("vector_accesses") > 0) found.push_back("vector4");
  if (value("shuffles") > 0) found.push_back(joins_warps ? "block_tree" : "shuffle_tree");
  if (distinct(evaluation, "shared_bytes").size() > 1) found.push_back("row_cache");
  if (shared_atomics) found.push_back("shared_atomics");
  if (launches > 1 && global_atomics == 0) found.push_back("stages");
  return found;
}

std::set<Cell> withheld_cells(const std::vector<DatasetSettings>& datasets) {
  std::set<Cell> cells;
  for (const DatasetSettings& dataset : datasets) {
    if (dataset.role != DatasetRole::kWarmup || !dataset.options.contains("withhold")) continue;
    for (const nlohmann::json& cell : dataset.options["withhold"]) {
      const std::string text = cell.is_string() ? cell.get<std::string>() : "";
      const std::size_t colon = text.find(':');
      if (colon != std::string::npos) cells.insert({text.substr(colon + 1), text.substr(0, colon)});
    }
  }
  return cells;
}

}  // namespace krl::core
