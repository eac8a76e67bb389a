#include "http/client/requests.hpp"

#include <algorithm>

#include "http/base/secrets.hpp"

namespace krl::http {
namespace {

using boost::beast::http::field;

bool is_token(std::string_view text) {
  constexpr std::string_view kSeparators = "()<>@,;:\\\"/[]?={}";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return c > ' ' && c < 127 && kSeparators.find(c) == std::string_view::npos;
  });
}

// The value is not shown: it may be a secret.
void set(Message::header_type& head, const Header& header) {
  constexpr std::string_view kEndsOfLines("\r\n\0", 3);
  if (!is_token(header.name)) invalid_argument("'" + header.name + "' is not a valid header name");
  if (header.value.find_first_of(kEndsOfLines) != std::string::npos)
    invalid_argument("the value of the header " + header.name + " has a line break in it");
  head.set(header.name, header.value);
}

void set_login(Message::header_type& head, field name, const Url& url) {
  const std::string login = basic_authorization(url);
  if (!login.empty()) head.set(name, login);
}

}  // namespace

Message::header_type common_head(const Url& server, const Options& options,
                                 const std::optional<Url>& proxy) {
  Message::header_type head;
  const bool names_server = proxy && server.scheme == Url::kHttp;
  if (server.scheme != Url::kUnix) head.target(names_server ? server.text() : server.path);
  head.set(field::host, server.authority());
  head.set(field::user_agent, "kernelrl");
  head.set(field::accept, "*/*");
  head.set(field::accept_encoding, "identity");
  set_login(head, field::authorization, server);
  if (names_server) set_login(head, field::proxy_authorization, *proxy);
  for (const Header& header : options.secret_headers) set(head, header);
  return head;
}

Message message_of(const Request& request, const Message::header_type& common, bool for_stream) {
  const std::string target = std::string(common.target()) + request.target;
  constexpr std::string_view kForbidden(" \r\n\t\0", 5);
  if (!is_token(request.method) || target.find_first_of(kForbidden) != std::string::npos)
    invalid_argument("invalid character in the request's method or target");
  Message message(common);
  message.method_string(request.method);
  message.target(target.empty() ? "/" : target);
  if (!request.body.empty()) message.set(field::content_type, request.content_type);
  for (const Header& header : request.headers) set(message, header);
  if (for_stream) message.set(field::connection, "Upgrade");
  if (for_stream) message.set(field::upgrade, "tcp");
  message.body() = {request.body.data(), request.body.size()};
  message.prepare_payload();
  return message;
}

Message tunnel_request(const Url& server, const Url& proxy) {
  const bool is_v6 = server.host.find(':') != std::string::npos;
  const std::string place =
      (is_v6 ? '[' + server.host + ']' : server.host) + ':' + std::to_string(server.port);
  Message message(boost::beast::http::verb::connect, place, 11);
  message.set(field::host, place);
  set_login(message, field::proxy_authorization, proxy);
  return message;
}

}  // namespace krl::http
