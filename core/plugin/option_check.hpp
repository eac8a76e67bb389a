// Whether the options that a component declares can be used as they are declared.
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/plan/catalog.hpp"

namespace krl {

// Names the first option that is wrong, and what to do: a key that no plan could set, or that is
// there twice; a range that cannot be read; a default that a plan could not give. Thread-safe.
Status check_options(Kind kind, const std::vector<KeyRule>& options);

}  // namespace krl
