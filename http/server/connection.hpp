// One connection of a server: reads its requests one after the other, and writes what the handler
// answers. Everything happens on its strand; the functions for exchanges may be called by any
// thread.
#pragma once

#include <atomic>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "http/server/server.hpp"
#include "http/server/server_call.hpp"
#include "http/server/server_stream.hpp"

namespace krl::http {

class Connection;

// The state that the connections of a server share.
struct Connections {
  using Clock = std::chrono::steady_clock;

  Connections(const ServerOptions& options, Server::Handler handler)
      : options(options), handler(std::move(handler)) {}

  // Closes those whose time is over.
  void look(Clock::time_point now);
  void for_each(void (Connection::*act)());

  // All that are open. To be released without the mutex: the last owner of one unlists it.
  std::vector<std::shared_ptr<Connection>> living();

  const ServerOptions options;
  const Server::Handler handler;
  std::atomic<bool> draining = false;
  std::atomic<std::uint64_t> open = 0, accepted = 0, refused = 0;
  std::mutex mutex;
  std::list<std::weak_ptr<Connection>> list;  // guarded by `mutex`
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  using Clock = Connections::Clock;

  Connection(ServerStream::Socket socket, boost::asio::ssl::context* tls,
             std::shared_ptr<Connections> all);
  ~Connection();

  // Begins to serve; or tells the client that there is no room.
  void begin(bool has_room);
  void close();
  void end_late();  // because of its deadline
  // The server ends: closes a connection without a request, and tells a WebSocket.
  void drain();
  bool is_late(Clock::time_point now) const;

  // Calls of exchanges.
  void answer(Answer answer);
  void when_gone(std::function<void()> gone);
  void begin_events();
  void send_event(std::string text);
  void end_events();
  void accept_web_socket(std::function<void(std::shared_ptr<WebSocket>)> opened);

  // For a WebSocket, which reads and writes from its opening on.
  ServerStream& stream() { return stream_; }
  boost::beast::flat_buffer& buffer() { return buffer_; }
  const Connections& all() const { return *all_; }
  // Calls `draining` on the strand once the server drains; at once if it does already.
  void when_draining(std::function<void()> draining);
  // Restarts or ends the time in which the client must take what is written to it.
  void expect_progress(bool is_writing);

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  // The steps of a request: none is there; it is being read; the handler has it; its answer is
  // written; an event stream is written; a WebSocket has taken over; nothing more is read.
  enum class State { kIdle, kReading, kHandled, kAnswered, kStreaming, kUpgraded, kClosing };

  void wait_for_bytes();
  void take_bytes(const boost::system::error_code& error, std::size_t count);
  void read_head();
  void read_body();
  void handle();
  void refuse(const boost::system::error_code& error);
  void write(std::string text);
  void write_next();
  void end_answer();
  void leave();
  void expire_after(Clock::duration limit);
  void run(std::function<void()> work);  // on the strand
  void run_in_order(std::function<void()> work);

  ServerStream stream_;
  const std::shared_ptr<Connections> all_;
  const std::string peer_;
  std::optional<std::list<std::weak_ptr<Connection>>::iterator> place_;  // none before begin()
  std::atomic<Clock::time_point::rep> deadline_;

  State state_ = State::kIdle;
  bool waits_for_bytes_ = false, keep_ = true, is_writing_ = false, is_gone_ = false;
  bool has_chunks_ = false, is_head_ = false, is_closed_ = false;
  boost::beast::flat_buffer buffer_;  // received and not yet read
  std::optional<Parser> parser_;
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  std::function<void()> gone_, draining_;
  std::optional<boost::beast::http::request_header<>> upgrade_;  // asks for a WebSocket
};

}  // namespace krl::http
