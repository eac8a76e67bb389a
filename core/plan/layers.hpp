// The layers of a plan, read and merged: includes, then the file, then `--set` arguments.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "core/plan/node.hpp"
#include "core/plan/problem.hpp"

namespace krl {

// One merged tree, its `include` gone. The origin of the root is the plan's file as a whole.
tl::expected<Node, std::vector<Problem>> read_layers(const std::filesystem::path& file,
                                                     const std::vector<std::string>& overrides);

}  // namespace krl
