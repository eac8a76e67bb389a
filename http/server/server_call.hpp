// One request to a server, and the place of its answer. Any thread; made by the server.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/base/message.hpp"

namespace krl::http {

class Connection;
class WebSocket;

struct IncomingRequest {
  std::string method;  // "POST"
  std::string target;  // "/v1/tasks?tier=1", as sent
  std::string path;    // "/v1/tasks", percent-decoded
  std::vector<Header> headers;
  std::string body;
  std::string peer;  // the client's address: "127.0.0.1"

  std::string_view header(std::string_view name) const { return header_of(headers, name); }
  // Returns the decoded value of the query's first parameter of this name; empty if there is none.
  std::string query(std::string_view name) const;
};

// The first of answer(), begin_events() and accept_web_socket() answers the request; what comes
// later, or after the client has gone, does nothing. A call that is dropped unanswered is answered
// with status 500; an event stream that is dropped is ended.
class ServerCall {
 public:
  ServerCall(std::shared_ptr<Connection> connection, IncomingRequest request);
  ~ServerCall();
  ServerCall(const ServerCall&) = delete;
  ServerCall& operator=(const ServerCall&) = delete;

  const IncomingRequest& request() const { return request_; }

  void answer(Answer answer);

  // Calls `gone` once if the client leaves before its answer is complete, at once if it has left.
  // The call comes on the connection's thread. One function is kept.
  void when_gone(std::function<void()> gone);

  // Answers with an event stream: each text (see event_text) is sent as soon as the client takes
  // it. A client that leaves more than a megabyte untaken is disconnected.
  void begin_events();
  void send_event(std::string text);
  void end_events();

  // Answers with a WebSocket, if the request asks for one; otherwise with status 426. `opened` gets
  // it on the connection's thread.
  void accept_web_socket(std::function<void(std::shared_ptr<WebSocket>)> opened);

 private:
  const std::shared_ptr<Connection> connection_;
  const IncomingRequest request_;
  std::atomic<bool> is_answered_ = false;  // an answer has begun
  std::atomic<bool> is_ended_ = false;     // it is complete: what comes later is another's
};

// Messages of text both ways. Any thread.
class WebSocket {
 public:
  struct Events {
    std::function<void(std::string text)> message;  // on the connection's thread, in order
    std::function<void()> closed;                   // once, whoever closed it
    std::function<void()> draining;  // the server ends: close it once nothing is under way
  };

  virtual ~WebSocket() = default;

  // Begins to read. Call it once, in `opened`.
  virtual void listen(Events events) = 0;
  // Sends a message after those before it. A client that leaves more than `kMostUntaken` bytes
  // untaken is disconnected.
  virtual void send(std::string text) = 0;
  // Closes it once the messages before are sent.
  virtual void close() = 0;
};

}  // namespace krl::http
