// Writes the requests of a client as Beast's messages. Pure.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/span_body.hpp>
#include <optional>

#include "http/base/url.hpp"
#include "http/client/options.hpp"

namespace krl::http {

// Its body is the request's, which must outlive it.
using Message = boost::beast::http::request<boost::beast::http::span_body<const char>>;

// Returns what the requests to a server have in common: their headers, and the start of their
// target, "/v1", or for a proxy "http://host:8000/v1". Options::secret_headers replace ours of the
// same name. Throws krl::Failure(KRL_INVALID_ARGUMENT), as message_of() does: a name or a value that
// no header may have.
Message::header_type common_head(const Url& server, const Options& options,
                                 const std::optional<Url>& proxy);

// A header of a request replaces the common one of the same name. `for_stream`: asks for a stream
// instead of HTTP.
Message message_of(const Request& request, const Message::header_type& common, bool for_stream);

// Asks a proxy for a tunnel to `server`.
Message tunnel_request(const Url& server, const Url& proxy);

}  // namespace krl::http
