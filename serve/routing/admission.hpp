// Who may ask a server, and how often. Thread-safe.
//
// A token comes as "Authorization: Bearer TOKEN", or as "X-API-Key: TOKEN".
// Without tokens a server answers only requests that were addressed to it as "localhost" or by a
// number: a page on the web that a person visits cannot reach it by a name of its own (DNS
// rebinding). A request that a page sends (`Origin`) must be from the server itself, or from an
// origin that is allowed.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/latest_used.hpp"
#include "core/base/result.hpp"
#include "http/server/server_call.hpp"

namespace krl::serve {
using namespace core;

struct AdmissionOptions {
  std::map<std::string, std::string> tokens;  // names by token; empty: none is needed
  std::vector<std::string> origins;           // "https://example.org"
  double rate = 0;                            // requests a second of each client; 0: any number
};

// Lines "NAME TOKEN"; empty ones and those that begin with # do not count.
Result<std::map<std::string, std::string>> read_tokens(const std::string& file);

class Admission {
 public:
  explicit Admission(AdmissionOptions options);

  // The client's name, or an answer that refuses it. `is_open`: no token is needed.
  tl::expected<std::string, http::Answer> admit(const http::IncomingRequest& request, bool is_open);

  // True if the client's rate has room for one more question, which counts from now on.
  bool may_ask_now(const std::string& client);

 private:
  static constexpr std::size_t kMostClients = 10000;  // whose rates are known, those heard latest

  struct Bucket {
    double tokens;
    std::chrono::steady_clock::time_point at;
  };
  struct State {
    std::mutex mutex;
    LatestUsed<std::optional<Bucket>> buckets{kMostClients};
  };

  std::unordered_map<std::string, std::string> names_;  // keyed by the digest of a token
  std::vector<std::string> origins_;
  double rate_;
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

}  // namespace krl::serve
