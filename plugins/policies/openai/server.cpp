#include "plugins/policies/openai/server.hpp"

#include <kernelrl/values.hpp>

namespace krl::openai {
namespace {

constexpr std::string_view kApi = "/v1";
constexpr std::size_t kLongestComplaint = 600;  // bytes

// The message of an error in the forms that servers give it, or the whole text.
std::string words_of(const std::string& body) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) {
    const Json error = json.value("error", json);
    if (error.is_string()) return error.get<std::string>();
    for (const char* key : {"message", "detail"}) {
      if (error.is_object() && error.contains(key)) {
        return error[key].is_string() ? error[key].get<std::string>() : error[key].dump();
      }
    }
  }
  return body;
}

}  // namespace

Server::Server(boost::asio::io_context& io, const std::string& base_url, const Settings& settings)
    : name_(http::parse_url(base_url).text()),
      api_(split_base_url(base_url).api),
      client_(io, http::parse_url(split_base_url(base_url).root), settings.http) {}

http::Request Server::request(const char* method, const std::string& path) const {
  http::Request request;
  request.method = method;
  const bool is_of_api = path.rfind(kApi, 0) == 0;
  request.target = is_of_api ? api_ + path.substr(kApi.size()) : path;
  request.repeatable = true;  // an answer that got lost is sampled once more
  return request;
}

http::Answer Server::get(const std::string& path, const Patience& patience, Yield yield) {
  return client_.ask(request("GET", path), patience, yield);
}

http::Answer Server::post(const std::string& path, const Json& body, const Patience& patience,
                          Yield yield) {
  http::Request post = request("POST", path);
  post.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return client_.ask(post, patience, yield);
}

http::Answer Server::stream(const std::string& path, const Json& body, const http::OnBody& on_body,
                            const Patience& patience, Yield yield) {
  http::Request post = request("POST", path);
  post.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return client_.stream(post, on_body, patience, yield);
}

std::string Server::complaint(const std::string& what, const http::Answer& answer) const {
  std::string words = client_.without_secrets(words_of(answer.body));
  if (words.size() > kLongestComplaint) words = words.substr(0, kLongestComplaint) + " …";
  return name_ + ": " + what + ": status " + std::to_string(answer.status) +
         (words.empty() ? "" : ": " + words);
}

}  // namespace krl::openai
