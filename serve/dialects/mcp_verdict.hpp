// Judged kernels as the tools of MCP tell them: as JSON with a schema, and as a text for an agent.
// Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "serve/judging/told_result.hpp"

namespace krl::serve::mcp {
using Json = nlohmann::ordered_json;

enum class Depth { kVerdict, kProfile };  // a profile has all values (docs/values.md) as well

// {"type": "object", "properties": {"task": …, "verdict": …}}
Json verdict_schema(Depth depth);

Json verdict_json(const std::string& task_id, const ToldResult& told, Depth depth);

// The feedback of a training, what limits the kernel, on which GPU, and the values of a profile.
std::string verdict_text(const ToldResult& told, Depth depth);

}  // namespace krl::serve::mcp
