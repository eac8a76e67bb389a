// The answer in an object of OpenAI's Responses API. Pure.
#pragma once

#include "serve/judging/client_episode.hpp"
#include "serve/routing/answers.hpp"

namespace krl::serve {

// The kernel of the last message; of the last call of `tool` with {"code"}, if the message holds
// none. An error names what the object lacks.
Result<ClientAnswer> answer_in(const Json& response, const char* tool);

}  // namespace krl::serve
