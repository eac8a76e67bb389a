// OpenEnv's protocol: an episode over a WebSocket (/ws), or by requests (/reset, /step, /state). The
// WebSocket carries messages of MCP as well.
#pragma once

#include "serve/dialects/environment.hpp"
#include "serve/dialects/mcp_tools.hpp"

namespace krl::serve::openenv {

// All outlive the router's last call.
void add_routes(JudgeService& service, mcp::Tools& tools, Router& router);

}  // namespace krl::serve::openenv
