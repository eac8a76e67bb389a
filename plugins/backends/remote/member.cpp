#include "plugins/backends/remote/member.hpp"

namespace krl::remote {
namespace {

// Whole seconds until the deadline, at least 1; 0: there is none.
std::int64_t seconds_left(const Patience& patience) {
  if (patience.deadline == Clock::time_point::max()) return 0;
  const auto left = std::chrono::ceil<std::chrono::seconds>(patience.deadline - Clock::now());
  return std::max<std::int64_t>(1, left.count());
}

http::Request request(const char* method, const char* target, std::string body = {}) {
  http::Request request;
  request.method = method;
  request.target = target;
  request.body = std::move(body);
  request.repeatable = true;  // a kernel that is judged twice has one verdict
  return request;
}

}  // namespace

Member::Member(boost::asio::io_context& io, const std::string& url, const http::Options& options)
    : name_(http::parse_url(url).text()), client_(io, http::parse_url(url), options) {}

ServerInfo Member::ask_info(const Patience& patience, Yield yield) {
  const http::Answer answer = client_.ask(request("GET", "/v1/info"), patience, yield);
  if (answer.status == 404)
    throw Failure(KRL_FAILED_PRECONDITION, name_ + ": this is no kernelrl serve");
  if (!answer.good()) throw Failure(refusal_of(answer).code, complaint(answer));
  try {
    return info_of(answer.body);
  } catch (const Failure& failure) {
    throw Failure(failure.code(), name_ + ": " + failure.what());
  }
}

http::Answer Member::evaluate(const Wanted& wanted, const std::string& digest,
                              const Patience& patience, Yield yield) {
  const auto ask = [&](const std::string& task) {
    return client_.ask(request("POST", "/v1/evaluate", wanted.body(task, seconds_left(patience))),
                       patience, yield);
  };
  if (!digest.empty()) {
    http::Answer answer = ask('"' + digest + '"');
    if (answer.status != 404) return answer;  // else it does not know the task, or has forgotten it
  }
  return ask(wanted.definition());
}

std::string Member::complaint(const http::Answer& answer) const {
  const std::string words = client_.without_secrets(refusal_of(answer).words);
  const bool wants_token = answer.status == 401 || answer.status == 403;
  return name_ + ": status " + std::to_string(answer.status) + (words.empty() ? "" : ": ") + words +
         (wants_token ? "; set token_env or token_file to a token of this server" : "");
}

}  // namespace krl::remote
