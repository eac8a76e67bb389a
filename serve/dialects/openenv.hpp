// OpenEnv's protocol: an episode over a WebSocket (/ws), or by requests (/reset, /step, /state).
#pragma once

#include "serve/dialects/environment.hpp"

namespace krl::serve::openenv {

void add_routes(JudgeService& service, Router& router);

}  // namespace krl::serve::openenv
