// The `--set` layer of a plan.
#pragma once

#include <string>
#include <vector>

#include "core/plan/node.hpp"
#include "core/plan/source.hpp"

namespace krl::core {

// Applies arguments such as "rollout.groups=4" or "stage.reinforce.until=\"pass_rate > 0.9\"" to a
// tree. The value is TOML, or a text without quotes such as `openai`, `./model` or `H200 SXM`; a key
// whose type is a string takes `4` and `nan` as texts too, see Node::word. An element of a list is named by its
// number from 0, or by its `name` or `use`; parts of a key that hold a '.' or another odd character
// may be in quotes, as in TOML. The order of the arguments does not matter: whole lists come first,
// then additions to them, choices (`use`, the loss, the schedule), the rest. Entries that a
// replaced list loses are reported in `notes`.
void apply_overrides(Node& document, const std::vector<std::string>& overrides,
                     std::vector<Problem>& problems, std::vector<std::string>& notes);

}  // namespace krl::core
