// Detects what a server is.
#pragma once

#include "plugins/policies/openai/server.hpp"

namespace krl::openai {

// Asks GET /version (vLLM), /get_server_info (SGLang), /props (llama.cpp) and /v1/models, and fills
// in server.found by what `settings` leave open.
// Throws krl::Failure: KRL_FAILED_PRECONDITION, with what was found, if it is not what the settings
// say, lacks the model or refuses the key; KRL_UNAVAILABLE or http::Failure if it gives no answer
// yet: it may be loading.
void probe(Server& server, const Settings& settings, const Patience& patience, Yield yield);

}  // namespace krl::openai
