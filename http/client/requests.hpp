// Writes the requests of a client as Beast's messages. Pure.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/span_body.hpp>
#include <optional>
#include <string>

#include "http/base/url.hpp"
#include "http/client/options.hpp"

namespace krl::http {

// Its body is the request's, which must outlive it.
using Message = boost::beast::http::request<boost::beast::http::span_body<const char>>;

class Requests {
 public:
  // Throws krl::Failure(KRL_INVALID_ARGUMENT), as message() does: a name or a value that no header
  // may have. A header of a request replaces the client's of the same name, and those replace ours.
  Requests(const Url& server, const Options& options, const std::optional<Url>& proxy);

  // `for_stream`: asks for a stream instead of HTTP.
  Message message(const Request& request, bool for_stream) const;

 private:
  std::string start_of_target_;  // "/v1", or for a proxy "http://host:8000/v1"
  Message::header_type always_;
};

// Asks a proxy for a tunnel to `server`.
Message tunnel_request(const Url& server, const Url& proxy);

}  // namespace krl::http
