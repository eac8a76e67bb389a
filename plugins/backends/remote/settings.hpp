// A plan's settings for the servers, validated, with the token read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "http/client/options.hpp"

namespace krl::remote {

using http::Duration;

struct Settings {
  std::vector<std::string> servers;  // URLs
  std::string members;               // the URL of their list, which is then read instead
  Duration members_every = std::chrono::seconds(5);
  Duration patience = std::chrono::seconds(30);  // a call's, while no server answers
  double hedge = 4;                              // times the 95th percentile of times; 0: never
  std::uint32_t concurrency = 0;                 // 0: by what the servers declare
  http::Options http;
};

// The token in the environment variable, or in the file without the white space around it; empty if
// neither is named. Throws krl::Failure(KRL_INVALID_ARGUMENT), which shows no token.
std::string token_of(const std::string& variable, const std::string& file);

}  // namespace krl::remote
