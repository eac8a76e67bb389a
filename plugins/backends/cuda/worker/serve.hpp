// The loop of a GPU's process: answers requests until its input ends, even while a kernel hangs.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace krl::gpu {

using Handlers = std::map<std::string, std::function<nlohmann::json(const nlohmann::json&)>>;

// What a handler throws becomes a Trouble. Returns the process' exit code.
int serve(const Handlers& handlers);

}  // namespace krl::gpu
