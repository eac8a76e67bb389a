#include "core/plan/catalog.hpp"

namespace krl {

std::string_view name_of(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::kPolicy:
      return "policy";
    case ComponentKind::kBackend:
      return "backend";
    case ComponentKind::kReward:
      return "reward";
    case ComponentKind::kDataset:
      return "dataset";
  }
  return "component";
}

const CatalogEntry* Catalog::find(ComponentKind kind, std::string_view id) const {
  for (const CatalogEntry& entry : entries) {
    if (entry.kind == kind && entry.id == id) return &entry;
  }
  return nullptr;
}

std::vector<std::string> Catalog::ids(ComponentKind kind) const {
  std::vector<std::string> ids;
  for (const CatalogEntry& entry : entries) {
    if (entry.kind == kind) ids.push_back(entry.id);
  }
  return ids;
}

}  // namespace krl
