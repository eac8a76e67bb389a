// The resources server of NeMo Gym: an answer of a model, as an object of OpenAI's Responses API,
// is verified once, for a reward. https://github.com/NVIDIA-NeMo/Gym, version 0.7
#pragma once

#include "serve/dialects/environment.hpp"

namespace krl::serve::nemo_gym {

void add_routes(JudgeService& service, Router& router);

}  // namespace krl::serve::nemo_gym
