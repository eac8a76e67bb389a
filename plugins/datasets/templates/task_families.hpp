// A family for each of some tasks of configs/tasks: its naive kernel and the kernels by hand in
// bench/kernels are the variants. Siblings of a task, which differ in a type or a constant, are
// further operations of its family (siblings.toml).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {

// Makes families of all tasks that have no other family: `taken` are those that have. Throws
// std::runtime_error if a file is not as required.
std::vector<Family> task_families(const std::set<std::string>& taken);

// Returns `text`, code or a prompt, with a `$` before every identifier that is one of `names`;
// members of structs and strings are skipped.
std::string mark_names(std::string_view text, const std::set<std::string>& names);

}  // namespace krl::templates
