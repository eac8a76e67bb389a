// Detects the kind of a server.
#pragma once

#include "plugins/policies/openai/server.hpp"

namespace krl::openai {

// Asks GET /version (vLLM), /get_server_info (SGLang), /props (llama.cpp) and /v1/models, and fills
// in server.found where `settings` leave it open. Throws krl::Failure: KRL_FAILED_PRECONDITION,
// with the findings, if the server contradicts the settings, lacks the model or refuses the key;
// KRL_UNAVAILABLE or http::Failure if it does not answer yet: it may be loading.
void probe(Server& server, const Settings& settings, const Patience& patience, Yield yield);

}  // namespace krl::openai
