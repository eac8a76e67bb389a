#include "tests/unit/http/scripted_server.hpp"

#include <algorithm>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/spawn.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <future>
#include <list>
#include <mutex>
#include <thread>

namespace krl::http::testing {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using asio::yield_context;
using asio::ip::tcp;
using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;

}  // namespace

// What one connection is closed by, from outside of its coroutine.
struct Connection {
  Connection(asio::io_context& io, Socket accepted)
      : socket(std::move(accepted)), timer(io), upstream(io) {}

  void close() {
    error_code ignored;
    closed = true;
    socket.close(ignored);
    upstream.close(ignored);
    timer.cancel();
  }
  void reset() {
    error_code ignored;
    socket.set_option(asio::socket_base::linger(true, 0), ignored);
    close();
  }
  void wait(std::chrono::milliseconds time, yield_context yield) {
    error_code ignored;
    timer.expires_after(time);
    if (!closed) timer.async_wait(yield[ignored]);
  }

  Socket socket;
  asio::steady_timer timer;
  tcp::socket upstream;  // of a tunnel
  bool closed = false;
};

namespace {

template <class From, class To>
void copy(From& from, To& to, yield_context yield) {
  std::vector<char> part(16384);
  error_code error;
  while (!error) {
    const std::size_t n = from.async_read_some(asio::buffer(part), yield[error]);
    if (!error) asio::async_write(to, asio::buffer(part.data(), n), yield[error]);
  }
}

// Does the steps of a script on a connection.
template <class Stream>
class Play {
 public:
  Play(asio::io_context& io, Connection& connection, Stream& stream, yield_context yield)
      : io_(io), connection_(connection), stream_(stream), yield_(yield) {}

  void operator()(const Script::Send& step) { write(step.bytes); }
  void operator()(const Script::Wait& step) { connection_.wait(step.time, yield_); }
  void operator()(const Script::Until& step) {
    while (!connection_.closed && !step.condition()) {
      connection_.wait(std::chrono::milliseconds(1), yield_);
    }
  }
  void operator()(const Script::Endlessly& step) {
    while (write(step.bytes)) {
    }
    connection_.close();
  }
  void operator()(const Script::Hold&) {
    std::vector<char> part(4096);
    error_code error;
    while (!error) stream_.async_read_some(asio::buffer(part), yield_[error]);
    connection_.close();
  }
  void operator()(const Script::Echo&) {
    copy(stream_, stream_, yield_);
    connection_.close();
  }
  void operator()(const Script::Close& step) {
    if (step.reset) return connection_.reset();
    end_tls();
    error_code ignored;
    connection_.socket.shutdown(Socket::shutdown_both, ignored);
    connection_.close();
  }
  void operator()(const Script::Tunnel& step) {
    error_code error;
    connection_.upstream.async_connect({asio::ip::address_v4::loopback(), step.port},
                                       yield_[error]);
    if (error) return connection_.close();
    bool back_ended = false;
    asio::spawn(
        io_,
        [this](yield_context yield) {
          copy(connection_.upstream, stream_, yield);
          connection_.close();
        },
        [&back_ended](const std::exception_ptr&) { back_ended = true; });
    copy(stream_, connection_.upstream, yield_);
    connection_.close();
    asio::steady_timer timer(io_);
    while (!back_ended) {
      timer.expires_after(std::chrono::milliseconds(1));
      timer.async_wait(yield_);
    }
  }

 private:
  bool write(const std::string& bytes) {
    error_code error;
    asio::async_write(stream_, asio::buffer(bytes), yield_[error]);
    return !error;
  }
  void end_tls() {
    error_code ignored;
    if constexpr (!std::is_same_v<Stream, Socket>) stream_.async_shutdown(yield_[ignored]);
  }

  asio::io_context& io_;
  Connection& connection_;
  Stream& stream_;
  yield_context yield_;
};

}  // namespace

std::string SeenRequest::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (boost::beast::iequals(header.name, name)) return header.value;
  }
  return {};
}

Script& Script::send(std::string bytes) {
  steps_.emplace_back(Send{std::move(bytes)});
  return *this;
}
Script& Script::wait(std::chrono::milliseconds time) {
  steps_.emplace_back(Wait{time});
  return *this;
}
Script& Script::until(std::function<bool()> condition) {
  steps_.emplace_back(Until{std::move(condition)});
  return *this;
}
Script& Script::endlessly(std::string bytes) {
  steps_.emplace_back(Endlessly{std::move(bytes)});
  return *this;
}
Script& Script::hold() {
  steps_.emplace_back(Hold{});
  return *this;
}
Script& Script::echo() {
  steps_.emplace_back(Echo{});
  return *this;
}
Script& Script::close() {
  steps_.emplace_back(Close{false});
  return *this;
}
Script& Script::reset() {
  steps_.emplace_back(Close{true});
  return *this;
}
Script& Script::tunnel(std::uint16_t port) {
  steps_.emplace_back(Tunnel{port});
  return *this;
}

std::string head(unsigned status, std::vector<Header> headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " " +
                     std::string(beast_http::obsolete_reason(beast_http::int_to_status(status))) +
                     "\r\n";
  for (const Header& header : headers) text += header.name + ": " + header.value + "\r\n";
  return text + "\r\n";
}

Script answer(unsigned status, std::string body, std::vector<Header> headers) {
  headers.push_back({"Content-Length", std::to_string(body.size())});
  return Script().send(head(status, std::move(headers)) + body);
}

std::string chunk(std::string_view bytes) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + std::string(bytes) + "\r\n";
}

Script chunked(unsigned status, const std::vector<std::string>& pieces,
               std::chrono::milliseconds pause, std::vector<Header> headers) {
  headers.push_back({"Transfer-Encoding", "chunked"});
  Script script;
  script.send(head(status, std::move(headers)));
  for (const std::string& piece : pieces) {
    script.send(chunk(piece));
    if (pause.count() > 0) script.wait(pause);
  }
  return script.send(chunk(""));
}

Script events(const std::vector<std::string>& pieces, std::chrono::milliseconds pause) {
  std::vector<std::string> lines;
  for (const std::string& piece : pieces) lines.push_back("data: " + piece + "\n\n");
  return chunked(200, lines, pause, {{"Content-Type", "text/event-stream"}});
}

class ScriptedServer::Implementation {
 public:
  Implementation(Handler handler, const ServerSettings& settings)
      : handler_(std::move(handler)), settings_(settings) {
    if (settings_.certificate != nullptr) {
      const Certificate& certificate = *settings_.certificate;
      tls_.use_certificate_chain(asio::buffer(certificate.certificate));
      tls_.use_private_key(asio::buffer(certificate.key), asio::ssl::context::pem);
    }
    thread_ = std::thread([this] { io_.run(); });
    on_thread([this] { listen(); });
  }
  ~Implementation() {
    vanish();
    work_.reset();
    thread_.join();
  }

  std::uint16_t port() const { return port_; }
  std::string url() const {
    if (!settings_.socket_path.empty()) return "unix://" + settings_.socket_path;
    const bool tls = settings_.certificate != nullptr;
    return (tls ? "https://localhost:" : "http://127.0.0.1:") + std::to_string(port_);
  }

  std::vector<SeenRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  int accepted() const {
    const std::lock_guard lock(mutex_);
    return accepted_;
  }
  int open() const {
    const std::lock_guard lock(mutex_);
    return open_;
  }
  int most_at_once() const {
    const std::lock_guard lock(mutex_);
    return most_at_once_;
  }

  void close_connections() {
    on_thread([this] {
      for (Connection* connection : connections_) connection->close();
    });
  }
  void vanish() {
    on_thread([this] {
      error_code ignored;
      tcp_.close(ignored);
      local_.close(ignored);
      for (Connection* connection : connections_) connection->reset();
    });
  }
  void come_back() {
    on_thread([this] { listen(); });
  }

 private:
  void on_thread(const std::function<void()>& work) {
    std::promise<void> done;
    asio::post(io_, [&] {
      work();
      done.set_value();
    });
    done.get_future().get();
  }

  void listen() {
    if (settings_.socket_path.empty()) {
      open_acceptor(tcp_, tcp::endpoint(asio::ip::address_v4::loopback(), port_));
      port_ = tcp_.local_endpoint().port();
    } else {
      ::unlink(settings_.socket_path.c_str());
      open_acceptor(local_, asio::local::stream_protocol::endpoint(settings_.socket_path));
    }
  }

  template <class Acceptor, class Endpoint>
  void open_acceptor(Acceptor& acceptor, const Endpoint& endpoint) {
    acceptor.open(endpoint.protocol());
    acceptor.set_option(asio::socket_base::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(4096);
    asio::spawn(
        io_, [this, &acceptor](yield_context yield) { accept(acceptor, yield); }, asio::detached);
  }

  template <class Acceptor>
  void accept(Acceptor& acceptor, yield_context yield) {
    for (;;) {
      error_code error;
      auto socket = acceptor.async_accept(yield[error]);
      if (error) return;
      auto shared = std::make_shared<Socket>(std::move(socket));
      asio::spawn(
          io_, [this, shared](yield_context inner) { serve(std::move(*shared), inner); },
          asio::detached);
    }
  }

  void serve(Socket socket, yield_context yield) {
    Connection connection(io_, std::move(socket));
    const auto place = connections_.insert(connections_.end(), &connection);
    int number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = ++accepted_;
      ++open_;
    }
    if (settings_.silent) {
      connection.wait(std::chrono::hours(1), yield);
    } else if (settings_.certificate != nullptr) {
      asio::ssl::stream<Socket&> stream(connection.socket, tls_);
      error_code error;
      stream.async_handshake(asio::ssl::stream_base::server, yield[error]);
      if (!error) converse(connection, stream, number, yield);
    } else {
      converse(connection, connection.socket, number, yield);
    }
    connections_.erase(place);
    const std::lock_guard lock(mutex_);
    --open_;
  }

  template <class Stream>
  void converse(Connection& connection, Stream& stream, int number, yield_context yield) {
    boost::beast::flat_buffer buffer;
    for (int n = 1; !connection.closed; ++n) {
      beast_http::request_parser<beast_http::string_body> parser;
      parser.body_limit(boost::none);
      error_code error;
      if (settings_.reads_bodies) {
        beast_http::async_read(stream, buffer, parser, yield[error]);
      } else {
        beast_http::async_read_header(stream, buffer, parser, yield[error]);
      }
      if (error) return;
      const Script script = script_for(parser.get(), number, n);
      Play play(io_, connection, stream, yield);
      for (const Script::Step& step : script.steps()) {
        if (!connection.closed) std::visit(play, step);
      }
      const std::lock_guard lock(mutex_);
      --at_once_;
    }
  }

  Script script_for(const beast_http::request<beast_http::string_body>& message, int connection,
                    int number) {
    SeenRequest seen{std::string(message.method_string()),
                     std::string(message.target()),
                     message.body(),
                     {},
                     connection,
                     number};
    for (const auto& field : message) {
      seen.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    }
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(seen);
      most_at_once_ = std::max(most_at_once_, ++at_once_);
    }
    return handler_(seen);
  }

  const Handler handler_;
  const ServerSettings settings_;
  std::uint16_t port_ = 0;

  mutable std::mutex mutex_;
  std::vector<SeenRequest> requests_;
  int accepted_ = 0, open_ = 0, at_once_ = 0, most_at_once_ = 0;

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  asio::ssl::context tls_{asio::ssl::context::tls_server};
  tcp::acceptor tcp_{io_};
  asio::local::stream_protocol::acceptor local_{io_};
  std::list<Connection*> connections_;  // the server's thread alone
  std::thread thread_;
};

ScriptedServer::ScriptedServer(Handler handler, ServerSettings settings)
    : implementation_(std::make_unique<Implementation>(std::move(handler), settings)) {}
ScriptedServer::~ScriptedServer() = default;

std::uint16_t ScriptedServer::port() const { return implementation_->port(); }
std::string ScriptedServer::url() const { return implementation_->url(); }
std::vector<SeenRequest> ScriptedServer::requests() const { return implementation_->requests(); }
int ScriptedServer::accepted() const { return implementation_->accepted(); }
int ScriptedServer::open() const { return implementation_->open(); }
int ScriptedServer::most_at_once() const { return implementation_->most_at_once(); }
void ScriptedServer::close_connections() { implementation_->close_connections(); }
void ScriptedServer::vanish() { implementation_->vanish(); }
void ScriptedServer::come_back() { implementation_->come_back(); }

}  // namespace krl::http::testing
