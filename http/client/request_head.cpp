#include "http/client/request_head.hpp"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <kernelrl/values.hpp>

#include "http/base/secrets.hpp"

namespace krl::http {
namespace {

bool has_character_of(std::string_view text, std::string_view forbidden) {
  return text.find_first_of(forbidden) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && !has_character_of(text, "()<>@,;:\\\"/[]?={} \t") &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

// The value is not shown: it may be a secret.
void check_header(const Header& header) {
  constexpr std::string_view kEndsOfLines("\r\n\0", 3);
  if (!is_token(header.name)) invalid_argument("'" + header.name + "' is not a valid header name");
  if (has_character_of(header.value, kEndsOfLines)) {
    invalid_argument("the value of the header " + header.name + " has a line break in it");
  }
}

bool is_named(const std::vector<Header>& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [&](const Header& header) {
    return boost::beast::iequals(header.name, name);
  });
}

void append(std::string& head, const Header& header) {
  head.append(header.name).append(": ").append(header.value).append("\r\n");
}

bool is_sent_with_length(const Request& request) {
  return !request.body.empty() || request.method == "POST" || request.method == "PUT" ||
         request.method == "PATCH";
}

}  // namespace

RequestHead::RequestHead(const Url& server, const Options& options,
                         const std::optional<Url>& proxy) {
  if (server.scheme == Url::kHttp) start_of_target_ = proxy ? server.text() : server.path;
  if (server.scheme == Url::kHttps) start_of_target_ = server.path;
  for (const auto* headers : {&options.headers, &options.secret_headers}) {
    for (const Header& header : *headers) {
      check_header(header);
      always_.push_back(header);
    }
  }
  const auto add_default = [&](const char* name, std::string value) {
    if (!value.empty() && !is_named(always_, name)) always_.push_back({name, std::move(value)});
  };
  add_default("Host", server.authority());
  add_default("User-Agent", "kernelrl");
  add_default("Accept", "*/*");
  add_default("Accept-Encoding", "identity");
  add_default("Authorization", basic_authorization(server));
  if (proxy && server.scheme == Url::kHttp) {
    add_default("Proxy-Authorization", basic_authorization(*proxy));
  }
}

std::string RequestHead::of(const Request& request, bool for_stream) const {
  const bool asks_for_root = start_of_target_.empty() && request.target.empty();
  const std::string target = asks_for_root ? "/" : start_of_target_ + request.target;
  if (!is_token(request.method) || has_character_of(target, {" \r\n\t\0", 5})) {
    invalid_argument("invalid character in the request's method or target");
  }
  std::string head = request.method + ' ' + target + " HTTP/1.1\r\n";
  for (const Header& header : always_) {
    if (!is_named(request.headers, header.name)) append(head, header);
  }
  for (const Header& header : request.headers) {
    check_header(header);
    append(head, header);
  }
  if (!request.body.empty()) append(head, {"Content-Type", request.content_type});
  if (is_sent_with_length(request)) {
    append(head, {"Content-Length", std::to_string(request.body.size())});
  }
  if (for_stream) head += "Connection: Upgrade\r\nUpgrade: tcp\r\n";
  return head += "\r\n";
}

}  // namespace krl::http
