#include "serve/routing/admission.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <sstream>

#include "core/base/hash.hpp"
#include "core/plan/source.hpp"
#include "serve/routing/answers.hpp"

namespace krl::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLeastToken = 16;  // characters
constexpr double kBurst = 10;            // seconds of its rate that a client may use at once

// "[::1]:8000" is "::1", "localhost:8000" is "localhost".
std::string name_of_host(std::string_view host) {
  if (host.starts_with('[')) return std::string(host.substr(1, host.find(']') - 1));
  return std::string(host.substr(0, host.find(':')));
}

bool is_number_or_local(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error || host == "localhost";
}

}  // namespace

Result<std::map<std::string, std::string>> read_tokens(const std::string& file) {
  const auto text = read_text_file(file);
  if (!text) return failure(Code::kNotFound, text.error());
  std::map<std::string, std::string> tokens;
  std::istringstream lines(*text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string name, token, rest;
    words >> name >> token;
    if (name.empty() || name.starts_with('#')) continue;
    if (token.size() < kLeastToken || words >> rest) {
      return invalid(file + ":" + std::to_string(number) + ": expected NAME TOKEN, the token of " +
                     std::to_string(kLeastToken) + " characters or more");
    }
    tokens[token] = name;
  }
  if (tokens.empty()) return invalid(file + " holds no token; write lines NAME TOKEN");
  return tokens;
}

Admission::Admission(AdmissionOptions options)
    : origins_(std::move(options.origins)), rate_(options.rate) {
  for (const auto& [token, name] : options.tokens) names_[sha256_hex(token)] = name;
}

tl::expected<std::string, http::Answer> Admission::admit(const http::IncomingRequest& request,
                                                         bool is_open) {
  const auto refuse = [](http::Answer answer) { return tl::unexpected(std::move(answer)); };
  const std::string host(request.header("Host"));
  const std::string_view origin = request.header("Origin");
  const bool is_own = origin == "http://" + host || origin == "https://" + host;
  if (!origin.empty() && !is_own && std::ranges::find(origins_, origin) == origins_.end())
    return refuse(refusal(403, "forbidden", "pages of this origin may not ask this server"));
  if (names_.empty() && !host.empty() && !is_number_or_local(name_of_host(host))) {
    return refuse(refusal(403, "forbidden",
                          "a server without tokens is asked as localhost or by its number"));
  }
  std::string client = request.peer;
  if (!names_.empty() && !is_open) {
    constexpr std::string_view kBearer = "Bearer ";
    const std::string_view given = request.header("Authorization");
    const auto known = names_.find(sha256_hex(
        given.starts_with(kBearer) ? given.substr(kBearer.size()) : request.header("X-API-Key")));
    if (known == names_.end()) {
      http::Answer answer =
          refusal(401, "unauthenticated", "send Authorization: Bearer and a token of this server");
      answer.headers.push_back({"WWW-Authenticate", "Bearer"});
      return refuse(std::move(answer));
    }
    client = known->second;
  }
  if (may_ask_now(client)) return client;
  return refuse(error_answer({Code::kResourceExhausted, "you ask more often than you may"},
                             std::chrono::seconds(1)));
}

bool Admission::may_ask_now(const std::string& client) {
  if (rate_ <= 0) return true;
  const std::lock_guard lock(state_->mutex);
  const auto now = Clock::now();
  const double most = std::max(1.0, kBurst * rate_);
  Bucket bucket = state_->buckets.find(client).value_or(Bucket{most, now});
  const std::chrono::duration<double> passed = now - bucket.at;
  bucket.tokens = std::min(most, bucket.tokens + rate_ * passed.count());
  bucket.at = now;
  const bool may = bucket.tokens >= 1;
  if (may) --bucket.tokens;
  state_->buckets.keep(client, bucket);
  return may;
}

}  // namespace krl::serve
