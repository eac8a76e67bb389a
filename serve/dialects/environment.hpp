// What the protocols of reinforcement learning environments share: one environment, "kernelrl",
// with one split of tasks, "train", and the routes that list them (OpenEnv's task routes, which are
// those of the Open Reward Standard), each with the environment's name before it and without.
#pragma once

#include <string>

#include "serve/judging/client_episode.hpp"
#include "serve/native/native_api.hpp"
#include "serve/routing/router.hpp"

namespace krl::serve {

inline constexpr const char* kEnvironment = "kernelrl";
inline constexpr std::chrono::seconds kLimit{55};  // clients give up after 60 s without an answer

// The text under this key; empty if there is none.
std::string text_in(const Json& json, const char* key);

// Null for what is not finite.
Json number_or_null(double value);

// Starts the episode that a client asks for: its task, by {"problem_id": an id, or a definition},
// {"split", "index"} or {"seed"}, or any one; {"reward": "gain" or "score"} and
// {"max_turns": 1 to 64}.
Result<std::shared_ptr<ClientEpisode>> asked_episode(JudgeService& service,
                                                     const std::string& client, const Json& request,
                                                     std::chrono::seconds limit);

// Adds the route and, with the environment's name before its path, the same again.
void add_in_environment(Router& router, Route route);

// GET /health, /list_environments and /splits; POST /tasks, /num_tasks, /task and /task_range.
void add_environment_routes(JudgeService& service, const ServerState& state, Router& router);

}  // namespace krl::serve
