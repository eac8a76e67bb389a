// A client of one server: HTTP/1.1 over TCP, TLS or a Unix socket, with connections kept alive.
//
// It lives on one io_context that a single thread runs, and may be used by any number of coroutines
// there at once; each waits in its ask() while the others continue. It is made, and destroyed once
// no coroutine uses it, by any thread. Redirects are not followed, cookies not kept, nothing is
// logged.
//
// Every function throws Failure, whose message holds no secret: neither a value of
// Options::secret_headers nor a user or password of a URL. An answer whose status is not 2xx is
// freed of them too, as servers echo keys in their complaints. A request that must not be sent,
// with a line break in a header, is a krl::Failure(KRL_INVALID_ARGUMENT).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/base/failure.hpp"
#include "http/base/loop.hpp"
#include "http/base/message.hpp"
#include "http/base/patience.hpp"
#include "http/base/url.hpp"
#include "http/client/options.hpp"
#include "http/client/stream.hpp"

namespace krl::http {

// An answer of status 101, or 200 to a request for an upgrade, comes with the stream.
struct Upgraded {
  Answer answer;
  std::optional<Stream> stream;
};

class Client {
 public:
  // Throws krl::Failure(KRL_INVALID_ARGUMENT): a CA file that cannot be read, a proxy that we
  // cannot speak to, a header with a line break.
  Client(boost::asio::io_context& io, Url base, Options options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // One exchange; any status is an answer. If a kept connection turns out to be closed before a
  // byte of the answer came, a repeatable request is sent once more on a new one.
  Answer ask(const Request& request, const Patience& patience, Yield yield);

  // Tries again with back-off (see backoff.hpp; Retry-After is honoured) until Retries::most tries
  // or until the next would begin after the deadline; then returns the last answer, or throws the
  // last failure. Any request is repeated if the server cannot have acted on it: no connection, or
  // an answer 425, 429, 503 or 529; a repeatable one also after a broken connection, a time-out,
  // and an answer 408, 500, 502 or 504.
  Answer ask_until_served(const Request& request, const Patience& patience, Yield yield);

  // Works like ask(), but the body of an answer with a status of 2xx is handed over as it arrives,
  // and is empty in the returned answer. An exception of on_body ends the exchange and is passed
  // on.
  Answer stream(const Request& request, const OnBody& on_body, const Patience& patience,
                Yield yield);

  // Asks for a connection of bytes both ways (Upgrade: tcp). With status 101 or 200 it is returned;
  // otherwise the answer explains why not. The stream may outlive the client, not the io_context.
  Upgraded upgrade(const Request& request, const Patience& patience, Yield yield);

  // `text` with every secret replaced by "***": for a message made of a server's words.
  std::string without_secrets(std::string text) const;

  const Url& base() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace krl::http
