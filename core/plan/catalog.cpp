#include "core/plan/catalog.hpp"

#include <array>

namespace krl {

std::string_view name_of(Kind kind) {
  static constexpr std::array<std::string_view, 5> kNames = {"component", "policy", "backend",
                                                             "reward", "dataset"};
  return kNames[static_cast<std::size_t>(kind)];
}

const CatalogEntry* Catalog::find(Kind kind, std::string_view id) const {
  for (const CatalogEntry& entry : entries) {
    if (entry.kind == kind && entry.id == id) return &entry;
  }
  return nullptr;
}

std::vector<std::string> Catalog::ids(Kind kind) const {
  std::vector<std::string> ids;
  for (const CatalogEntry& entry : entries) {
    if (entry.kind == kind) ids.push_back(entry.id);
  }
  return ids;
}

std::string Catalog::search_report(const std::string& separator) const {
  std::string report;
  for (const std::string& folder : searched) {
    report += (report.empty() ? separator + "searched: " : ", ") + folder;
  }
  for (const std::string& file : refused) report += separator + "not loaded: " + file;
  return report;
}

}  // namespace krl
