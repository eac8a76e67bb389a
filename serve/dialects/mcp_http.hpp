// MCP over streamable HTTP: POST /mcp for messages, DELETE /mcp for the end of a session. Sessions
// belong to the revisions with a handshake; a client may do without.
#pragma once

#include "serve/dialects/mcp_tools.hpp"
#include "serve/routing/router.hpp"

namespace krl::serve::mcp {

// Both outlive the router's last call.
void add_routes(JudgeService& service, Tools& tools, Router& router);

}  // namespace krl::serve::mcp
