// One HTTP/1.1 connection to a daemon that listens on a Unix socket: for one request and its
// answer, or for one request that turns the connection into a stream of bytes both ways.
// Used by one thread at a time.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/backends/docker/engine/patience.hpp"

namespace krl::docker {

struct HttpRequest {
  std::string method, target, body;
  std::string content_type = "application/json";
};

struct HttpAnswer {
  unsigned status = 0;
  std::string body;
};

// Why a connection did not do what it was asked to. The connection is closed then.
class ConnectionFailure : public std::exception {
 public:
  enum Cause { kNoDaemon, kNoPermission, kBroken, kDeadline, kCancelled };
  ConnectionFailure(Cause cause, std::string detail) : cause_(cause), detail_(std::move(detail)) {}

  Cause cause() const { return cause_; }
  const char* what() const noexcept override { return detail_.c_str(); }  // the system's words

 private:
  Cause cause_;
  std::string detail_;
};

// Every function throws ConnectionFailure.
class Connection {
 public:
  Connection(const std::string& socket_path, const Patience& patience);
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  HttpAnswer ask(const HttpRequest& request, const Patience& patience);

  // Asks for a stream. Status 101 or 200: it is one, and exchange() may follow; any other: no
  // stream, and the answer says why.
  HttpAnswer upgrade(const HttpRequest& request, const Patience& patience);

  // Sends `input` and then the end of input, and hands `received` what comes meanwhile, until the
  // other side ends the stream or `received` says false. An input that is not wanted is no failure.
  void exchange(std::string_view input, const std::function<bool(std::string_view)>& received,
                const Patience& patience);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace krl::docker
