// The layers of a plan, read and merged: includes, then the file, then `--set` arguments.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/node.hpp"
#include "core/plan/problem.hpp"

namespace krl {

// One merged tree, its `include` gone; nothing if a file could not be read. What is wrong goes to
// `problems`, what a layer takes away to `notes`. The origin of the root is the plan's file as a
// whole.
std::optional<Node> read_layers(const std::filesystem::path& file,
                                const std::vector<std::string>& overrides,
                                std::vector<Problem>& problems, std::vector<std::string>& notes);

}  // namespace krl
