// Prints the resolved plan as TOML that loads again to the same plan. Thread-safe.
#pragma once

#include <string>

#include "core/plan/plan.hpp"

namespace krl::core {

enum class ShowOrigins { kNo, kYes };

// Prints the plan. With origins, a comment after each value tells where it came from.
std::string print_plan(const Plan& plan, ShowOrigins origins = ShowOrigins::kNo);

// A value on one line, as TOML.
std::string toml_text(const Node& value);

}  // namespace krl::core
