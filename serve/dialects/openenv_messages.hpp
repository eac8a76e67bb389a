// What OpenEnv's clients are told: an episode and its turns with the field names of OpenEnv's kernrl
// environment, which clients and prompts for GPU kernels know. Pure.
// https://github.com/meta-pytorch/OpenEnv, version 0.10
#pragma once

#include "serve/judging/client_episode.hpp"
#include "serve/routing/answers.hpp"

namespace krl::serve::openenv {

// {"observation": {…}, "reward": …, "done": …}. `judged`: null before the first answer.
Json observation(const ClientEpisode& episode, const std::string& device, const JudgedTurn* judged);

// {"episode_id": …, "step_count": …}; without an episode too.
Json state(const ClientEpisode* episode);

// The JSON schemas of an action, an observation and a state.
Json schemas();

}  // namespace krl::serve::openenv
