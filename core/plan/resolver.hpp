// Checks a merged tree against the schema and the catalog, and fills it in.
#pragma once

#include <filesystem>
#include <vector>

#include "core/plan/keys.hpp"
#include "core/plan/node.hpp"
#include "core/plan/source.hpp"

namespace krl::core {

struct ResolvedTree {
  Node document;             // all tables with their defaults; prints as the resolved plan
  std::vector<Node> stages;  // for each stage, the tables in force: backend, rollout, …
};

// Resolves a document. Errors go to `problems`; without any, the result holds every key of the
// schema that is in use, each with a value of its type. `folder` is that of the plan's file. Notes
// on elements that a stage's lists take away go to `notes`.
ResolvedTree resolve(Node document, const Catalog& catalog, const std::filesystem::path& folder,
                     std::vector<Problem>& problems, std::vector<std::string>& notes);

// Checks the table of one component: the core's own keys of such a table, and the component's.
void resolve_component(Node& table, Kind kind, const std::vector<KeyRule>& core_keys,
                       const Catalog& catalog, const std::filesystem::path& folder,
                       std::vector<Problem>& problems);

}  // namespace krl::core
