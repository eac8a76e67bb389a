// A server of HTTP/1.1 and WebSockets, with TLS or without, on Boost.Beast.
//
// Every limit is enforced here: of connections, of the sizes of heads and bodies, and of the time
// that a client may take to send a request or to take an answer. What a request means is the
// handler's. Created and destroyed by one thread; the handler runs on the server's own threads, on
// one at a time for each connection, and must not block.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "http/server/server_call.hpp"

namespace krl::http {

struct ServerOptions {
  std::string address = "127.0.0.1";       // a numeric one
  std::uint16_t port = 0;                  // 0: any free one
  std::string certificate_file, key_file;  // PEM; empty: no TLS
  unsigned threads = 2;
  std::size_t max_connections = 30000;  // more are told 503
  std::size_t max_head = std::size_t{32} << 10;
  std::size_t max_body = std::size_t{4} << 20;  // bytes of a request's body, or of a message
  std::chrono::seconds idle{300};               // between requests of a connection
  std::chrono::seconds request{30};             // from the first byte of a request to its last
  std::chrono::seconds untaken{30};             // in which a client takes none of an answer
};

struct ServerCounts {
  std::uint64_t connections = 0;  // open now
  std::uint64_t accepted = 0, refused = 0;
};

class Server {
 public:
  using Handler = std::function<void(std::shared_ptr<ServerCall>)>;

  // Listens from here on. Throws krl::Failure: KRL_INVALID_ARGUMENT for an address or a certificate
  // that is none, KRL_UNAVAILABLE if the port is taken.
  Server(ServerOptions options, Handler handler);
  // Stops; outlives every call that it has handed out.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  ServerCounts counts() const;

  // Accepts no more connections, ends each connection after its answer, and returns when none is
  // left, or after `patience`: true if none was left.
  bool drain(std::chrono::milliseconds patience);

  // Closes what is open; no function is called once this has returned.
  void stop();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace krl::http
