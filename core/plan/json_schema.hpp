// The schema of plans as JSON Schema (draft 2020-12), for editors: what `plan_schema` and the options
// of the components of a catalog allow. Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>

#include "core/plan/keys.hpp"

namespace krl::core {

nlohmann::ordered_json json_schema(const Catalog& catalog);

}  // namespace krl::core
