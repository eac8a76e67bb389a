// Loads a trainer's weights into a running server.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/policies/openai/server.hpp"

namespace krl::openai {

struct PushedWeights {
  std::uint32_t kind = 0;  // KRL_WEIGHTS_*
  std::string directory;   // absolute, and there on the server's machine too
  std::uint64_t version = 0;
};

// True if answers that are in progress end with the weights that they began with.
bool runs_beside(const Dialect& dialect, std::uint32_t kind);

// Makes the server load the weights, checks that it did, frees the previous ones, and notes their
// version in `server`. An adapter gets a name that no other push, of this run or another, has used,
// so that no cache mistakes one for another. REQUIRES: nothing is in flight there, unless
// runs_beside(). Throws krl::Failure, whose message names the step that failed; the server then
// samples as before, unless it was the last one.
void push_weights(Server& server, const PushedWeights& weights, const Patience& patience,
                  Yield yield);

}  // namespace krl::openai
