// The server's own protocol, /v1: kernels judged, tasks, the best kernels, and what operators ask.
// docs/serve.md describes it, and /openapi.json for programs.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "serve/judging/judge_service.hpp"
#include "serve/routing/router.hpp"

namespace krl::serve {

struct ServerState {
  std::string version = KERNELRL_VERSION;
  const char* seeds = "random";  // where those of inputs come from: "random", "given", "client"
  std::function<std::uint64_t()> connections;
  std::atomic<bool> drains = false;
};

// A task in a list: {"id", "title", "tier"}.
Json brief(const Task& task);

// `service` and `state` outlive the router's last call.
void add_native_routes(JudgeService& service, const ServerState& state, Router& router);

}  // namespace krl::serve
