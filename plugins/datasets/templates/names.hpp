// Random names for tensors, axes and scalars: a large pool, so that a model learns the meaning of a
// name, not the name.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "plugins/datasets/templates/family.hpp"
#include "plugins/datasets/templates/random.hpp"

namespace krl::templates {

// The names of an operation by role.
using Names = std::map<std::string, std::string>;

// The names that the operation has in configs/tasks.
Names canonical_names(const Operation& operation);

// Names from the pools, all different, and none of the `taken` words.
Names random_names(const Operation& operation, Random* random,
                   const std::set<std::string>& taken = {});

// Every name that a pool can give without composing one, for tests.
std::vector<std::string> pool_names();

}  // namespace krl::templates
