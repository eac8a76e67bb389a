// One server: its address, its detected properties, its health, and its load. Used only on the
// loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "http/client/client.hpp"
#include "plugins/policies/openai/settings.hpp"

namespace krl::openai {

using http::Patience;
using http::Yield;
using Clock = std::chrono::steady_clock;

// The properties of a server. Unknown numbers are 0.
struct Found {
  const Dialect* dialect = nullptr;  // the one to speak
  std::string server;                // its kind: "vLLM 0.32.0", "a server"
  std::string model;                 // its name for the served model
  std::int64_t context = 0;          // tokens of a prompt and its answer
  std::int64_t vocabulary = 0;
  std::uint32_t most_at_once = 1;  // answers of one exchange
};

class Server {
 public:
  Server(boost::asio::io_context& io, const std::string& base_url, const Settings& settings);

  // One exchange. Throws http::Failure.
  http::Answer get(const std::string& path, const Patience& patience, Yield yield);
  http::Answer post(const std::string& path, const Json& body, const Patience& patience,
                    Yield yield);
  http::Answer stream(const std::string& path, const Json& body, const http::OnBody& on_body,
                      const Patience& patience, Yield yield);

  const std::string& name() const { return name_; }  // its URL, for messages
  // "http://…: POST /completion: status 400: the server's words", freed of secrets and short.
  std::string complaint(const std::string& what, const http::Answer& answer) const;

  Found found;

  // Load.
  unsigned in_flight = 0;           // exchanges
  std::uint64_t conversations = 0;  // total number assigned to it

  // Health. A server that failed is paused until a time, and is then probed.
  unsigned failures = 0;  // consecutive failures; 0: it is healthy
  Clock::time_point paused_until{};
  std::string trouble;  // the last failure
  std::string misfit;   // problem that the user must fix; empty: none

  // Weights that were pushed.
  std::uint64_t version = 0;  // version of the weights that it samples with
  std::string adapter;        // their name there; empty: the model's own
  // A push has failed half-way: it may sample with other weights than those of `version`.
  bool is_uncertain = false;

 private:
  http::Request request(const char* method, const std::string& path) const;

  std::string name_, api_;
  http::Client client_;
};

}  // namespace krl::openai
