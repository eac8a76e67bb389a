// A server of the tests: an HTTP/1.1 server on 127.0.0.1 that answers each request by a script,
// which may break every rule of the protocol. Its thread is its own; all functions may be called by
// any.
//
//   ScriptedServer server([](const SeenRequest& request) {
//     return request.target == "/props" ? answer(200, "{}") : answer(404);
//   });
//   Client client(io, parse_url(server.url()), {});
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/base/message.hpp"
#include "tests/unit/http/test_certificate.hpp"

namespace krl::http::testing {

struct SeenRequest {
  std::string method, target, body;
  std::vector<Header> headers;
  int connection = 0;            // 1, 2, …: in the order in which they were accepted
  int number_on_connection = 0;  // 1, 2, …

  std::string header(std::string_view name) const;  // empty if there is none
};

// What the server does with a request, step by step. After the last step it reads the connection's
// next request.
class Script {
 public:
  Script& send(std::string bytes);  // as they are
  Script& wait(std::chrono::milliseconds time);
  Script& until(std::function<bool()> condition);  // asked on the server's thread
  Script& endlessly(std::string bytes);            // until the client has gone
  Script& hold();                                  // does nothing until the client has gone
  Script& echo();                      // sends back what comes, until the client ends its side
  Script& close();                     // FIN
  Script& reset();                     // RST
  Script& tunnel(std::uint16_t port);  // bytes both ways with 127.0.0.1:port, as a proxy

  struct Send {
    std::string bytes;
  };
  struct Wait {
    std::chrono::milliseconds time;
  };
  struct Until {
    std::function<bool()> condition;
  };
  struct Endlessly {
    std::string bytes;
  };
  struct Hold {};
  struct Echo {};
  struct Close {
    bool reset;
  };
  struct Tunnel {
    std::uint16_t port;
  };
  using Step = std::variant<Send, Wait, Until, Endlessly, Hold, Echo, Close, Tunnel>;
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

// A whole answer, with its right Content-Length.
Script answer(unsigned status, std::string body = {}, std::vector<Header> headers = {});
// Its head alone, for a body sent by further steps: as Content-Length, or without any.
std::string head(unsigned status, std::vector<Header> headers = {});
// A body in chunks, with a pause between each and the next.
Script chunked(unsigned status, const std::vector<std::string>& pieces,
               std::chrono::milliseconds pause = {}, std::vector<Header> headers = {});
// The same as text/event-stream; each piece is sent as "data: PIECE\n\n".
Script events(const std::vector<std::string>& pieces, std::chrono::milliseconds pause = {});
std::string chunk(std::string_view bytes);  // chunk("") ends a body

// Called on the server's thread, one request at a time.
using Handler = std::function<Script(const SeenRequest&)>;

struct ServerSettings {
  const Certificate* certificate = nullptr;  // with one, it speaks TLS
  bool silent = false;                       // accepts, and never reads a byte
  bool reads_bodies = true;  // false: it answers a request's head, and leaves the body unread
  std::string socket_path;   // listens on a Unix socket instead
};

class ScriptedServer {
 public:
  explicit ScriptedServer(Handler handler, ServerSettings settings = {});
  ~ScriptedServer();

  std::uint16_t port() const;
  std::string url() const;  // "http://127.0.0.1:PORT", "https://localhost:PORT", "unix://PATH"

  // All requests that came in whole so far, in the order in which they did.
  std::vector<SeenRequest> requests() const;
  int accepted() const;      // connections so far
  int open() const;          // connections now
  int most_at_once() const;  // requests that were being answered at the same time, at most

  void close_connections();  // all that are open, by FIN
  void vanish();             // stops listening and resets all connections
  void come_back();          // on the same port

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace krl::http::testing
