// The text of a task file (docs/tasks.md). Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace krl::service {

// `definition`: the keys of a task, as in <kernelrl/task_definition.hpp>. The tables of its tensors
// come last, as TOML requires.
std::string task_file_text(const nlohmann::ordered_json& definition);

}  // namespace krl::service
