// A plan's settings for the servers, validated, with secrets read from the environment.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "http/client/options.hpp"
#include "plugins/policies/openai/dialect.hpp"

namespace krl::openai {

using Seconds = std::chrono::duration<double>;

struct Settings {
  std::vector<std::string> base_urls;  // at least one
  std::string model;                   // empty: the one that the server has
  const Dialect* dialect = nullptr;    // null: the detected one
  std::int64_t context = 0;            // tokens; 0: the server's
  unsigned concurrency = 64;           // exchanges in flight with one server, at most
  unsigned retries = 8;                // retries of one exchange
  Seconds timeout{1800};               // a request, with all its tries
  Seconds start_timeout{60};           // until a server must be ready
  bool stream = false;
  std::uint32_t logprobs = 0;  // KRL_LOGPROBS_*; unknown: the dialect's
  Json extra;                  // an object: merged into every body
  http::Options http;
};

// The key in the environment variable `variable`, which must be set. Without a name: that in
// OPENAI_API_KEY, if there is one and all servers are asked by https; else none. Throws
// krl::Failure(KRL_INVALID_ARGUMENT).
std::string api_key(const std::string& variable, const std::vector<std::string>& base_urls);

// A table of the plan, "headers" with texts or "extra" with anything, as a JSON object.
Json table_of(const Json& plan, const char* name);
std::vector<http::Header> headers_of(const Json& plan);

// The URL of a server's root and the prefix of its API's paths: "http://host:8000/v1" is
// "http://host:8000" and "/v1"; without a path, "/v1" is meant.
struct BaseUrl {
  std::string root, api;
};
BaseUrl split_base_url(const std::string& url);

}  // namespace krl::openai
