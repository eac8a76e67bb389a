#include "plugins/backends/docker/engine/connection.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>

namespace krl::docker {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using Socket = asio::local::stream_protocol::socket;

constexpr std::uint64_t kMaxAnswerBytes = std::uint64_t{64} << 20;

http::request<http::string_body> message_of(const HttpRequest& request, bool upgrade) {
  http::request<http::string_body> message(http::string_to_verb(request.method), request.target, 11,
                                           request.body);
  message.set(http::field::host, "docker");
  message.set(http::field::content_type, request.content_type);
  message.set(http::field::connection, upgrade ? "Upgrade" : "close");
  if (upgrade) message.set(http::field::upgrade, "tcp");
  message.prepare_payload();
  return message;
}

ConnectionFailure failure_of(const error_code& error) {
  if (error == asio::error::access_denied) {
    return {ConnectionFailure::kNoPermission, error.message()};
  }
  if (error == asio::error::connection_refused ||
      error == boost::system::errc::no_such_file_or_directory ||
      error == boost::system::errc::not_a_socket) {
    return {ConnectionFailure::kNoDaemon, error.message()};
  }
  return {ConnectionFailure::kBroken, error.message()};
}

}  // namespace

class Connection::Implementation {
 public:
  Implementation(const std::string& path, const Patience& patience) {
    asio::local::stream_protocol::endpoint endpoint;
    try {
      endpoint = asio::local::stream_protocol::endpoint(path);
    } catch (const boost::system::system_error& error) {  // longer than a socket's path may be
      throw failure_of(error.code());
    }
    require(finish(patience, [&](auto done) { socket_.async_connect(endpoint, done); }));
  }
  ~Implementation() { close(); }

  HttpAnswer ask(const HttpRequest& request, const Patience& patience) {
    http::response_parser<http::string_body> answer;
    answer.body_limit(kMaxAnswerBytes);
    send(request, false, patience);
    require(finish(patience, [&](auto done) {
      http::async_read(socket_, buffer_, answer, [done](error_code e, std::size_t) { done(e); });
    }));
    return {answer.get().result_int(), std::move(answer.get().body())};
  }

  HttpAnswer upgrade(const HttpRequest& request, const Patience& patience) {
    http::response_parser<http::string_body> answer;
    answer.body_limit(kMaxAnswerBytes);
    send(request, true, patience);
    require(finish(patience, [&](auto done) {
      http::async_read_header(socket_, buffer_, answer,
                              [done](error_code e, std::size_t) { done(e); });
    }));
    const unsigned status = answer.get().result_int();
    if (status == 101 || status == 200) return {status, {}};
    require(finish(patience, [&](auto done) {
      http::async_read(socket_, buffer_, answer, [done](error_code e, std::size_t) { done(e); });
    }));
    return {status, std::move(answer.get().body())};
  }

  void exchange(std::string_view input, const std::function<bool(std::string_view)>& received,
                const Patience& patience) {
    asio::async_write(socket_, asio::buffer(input), [this](error_code, std::size_t) {
      error_code ignored;
      socket_.shutdown(Socket::shutdown_send, ignored);
    });
    const auto early = buffer_.data();  // what came together with the answer's head
    bool more =
        early.size() == 0 || received({static_cast<const char*>(early.data()), early.size()});
    std::array<char, 1 << 16> part;
    while (more) {
      std::size_t n = 0;
      const error_code error = finish(patience, [&](auto done) {
        socket_.async_read_some(asio::buffer(part), [&n, done](error_code e, std::size_t got) {
          n = got;
          done(e);
        });
      });
      if (error && error != asio::error::eof && error != asio::error::connection_reset) {
        throw failure_of(error);
      }
      more = !error && received({part.data(), n});
    }
    close();
  }

 private:
  // Starts an operation and runs until it calls done(error). If patience ends before, the operation
  // is undone and the connection closed.
  template <class Start>
  error_code finish(const Patience& patience, const Start& start) {
    std::optional<error_code> result;
    start([&result](error_code error) { result = error; });
    while (!result) {
      const auto left = patience.deadline - Patience::Clock::now();
      if (left <= left.zero()) give_up(ConnectionFailure::kDeadline);
      if (patience.cancelled && patience.cancelled()) give_up(ConnectionFailure::kCancelled);
      io_.restart();
      io_.run_one_for(std::min<Patience::Clock::duration>(left, kCancelPoll));
    }
    return *result;
  }

  [[noreturn]] void give_up(ConnectionFailure::Cause cause) {
    close();
    throw ConnectionFailure(
        cause, cause == ConnectionFailure::kDeadline ? "no answer in time" : "cancelled");
  }

  static void require(const error_code& error) {
    if (error) throw failure_of(error);
  }

  // A daemon that refuses early closes its side while we still write: its answer says why.
  void send(const HttpRequest& request, bool upgrade, const Patience& patience) {
    const auto message = message_of(request, upgrade);
    const error_code error = finish(patience, [&](auto done) {
      http::async_write(socket_, message, [done](error_code e, std::size_t) { done(e); });
    });
    if (error != asio::error::broken_pipe) require(error);
  }

  // No handler runs after this: operations that still wait are undone here.
  void close() {
    error_code ignored;
    socket_.close(ignored);
    io_.restart();
    io_.run();
  }

  asio::io_context io_{1};
  Socket socket_{io_};
  boost::beast::flat_buffer buffer_;
};

Connection::Connection(const std::string& socket_path, const Patience& patience)
    : implementation_(std::make_unique<Implementation>(socket_path, patience)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

HttpAnswer Connection::ask(const HttpRequest& request, const Patience& patience) {
  return implementation_->ask(request, patience);
}

HttpAnswer Connection::upgrade(const HttpRequest& request, const Patience& patience) {
  return implementation_->upgrade(request, patience);
}

void Connection::exchange(std::string_view input,
                          const std::function<bool(std::string_view)>& received,
                          const Patience& patience) {
  implementation_->exchange(input, received, patience);
}

}  // namespace krl::docker
