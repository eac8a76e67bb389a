// The tools as tools/list tells them: names, descriptions, schemas of arguments and answers. Pure.
#pragma once

#include "serve/dialects/mcp_verdict.hpp"

namespace krl::serve::mcp {

inline constexpr std::size_t kMostCompared = 16;  // kernels in a call

Json tool_list(bool can_import);

}  // namespace krl::serve::mcp
