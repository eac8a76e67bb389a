#include "http/server/server.hpp"

#include <fcntl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <kernelrl/broken_pipe_guard.hpp>
#include <kernelrl/values.hpp>
#include <thread>
#include <vector>

#include "http/base/tls.hpp"
#include "http/server/connection.hpp"

namespace krl::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kLook{250};   // between looks at the connections' time
constexpr std::chrono::milliseconds kPause{100};  // after a connection that could not be accepted
constexpr int kMostAtOnce = 64;                   // connections, before other work has its turn

// A child process that held a connection would keep it open after its client has left.
template <class Socket>
void keep_to_ourselves(Socket& socket) {
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

tcp::acceptor listen(asio::io_context& io, const ServerOptions& options) {
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) invalid_argument("'" + options.address + "' is not an address such as 127.0.0.1");
  const tcp::endpoint endpoint(address, options.port);
  tcp::acceptor acceptor(asio::make_strand(io));
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (!error) acceptor.non_blocking(true, error);
  if (!error) keep_to_ourselves(acceptor);
  if (!error) return acceptor;
  throw krl::Failure(KRL_UNAVAILABLE, "cannot listen on " + options.address + ":" +
                                          std::to_string(options.port) + ": " + error.message());
}

}  // namespace

class Server::Implementation {
 public:
  Implementation(ServerOptions options, Handler handler)
      : connections_(std::make_shared<Connections>(options, std::move(handler))),
        acceptor_(listen(io_, options)),
        port_(acceptor_.local_endpoint().port()),
        pause_(acceptor_.get_executor()),
        clock_(io_) {
    if (!options.certificate_file.empty())
      tls_.emplace(server_tls_context(options.certificate_file, options.key_file));
    accept();
    look();
    for (unsigned i = 0; i < std::max(options.threads, 1u); ++i) {
      threads_.emplace_back([this] {
        const BrokenPipeGuard guard;
        io_.run();
      });
    }
  }

  ~Implementation() { stop(); }

  void stop() {
    stop_accepting();
    connections_->for_each(&Connection::close);
    wait_until_closed(std::chrono::seconds(2));
    io_.stop();
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  std::uint16_t port() const { return port_; }

  ServerCounts counts() const {
    const Connections& all = *connections_;
    return {all.open, all.accepted, all.refused};
  }

  bool drain(std::chrono::milliseconds patience) {
    connections_->draining = true;
    stop_accepting();
    connections_->for_each(&Connection::drain);
    return wait_until_closed(patience);
  }

 private:
  // Takes all that have come since it looked: one at a time, each would wait for a thread to wake.
  void accept() {
    acceptor_.async_wait(tcp::acceptor::wait_read, [this](error_code error) {
      if (!acceptor_.is_open()) return;
      for (int i = 0; !error && i < kMostAtOnce; ++i) {
        tcp::socket socket = acceptor_.accept(asio::make_strand(io_), error);
        if (!error) open(std::move(socket));
      }
      if (error && error != asio::error::would_block) return accept_later();
      accept();
    });
  }

  void open(tcp::socket socket) {
    ++connections_->accepted;
    const bool has_room = connections_->open < connections_->options.max_connections;
    if (!has_room) ++connections_->refused;
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    keep_to_ourselves(socket);
    const auto connection =
        std::make_shared<Connection>(std::move(socket), tls_ ? &*tls_ : nullptr, connections_);
    asio::dispatch(connection->stream().get_executor(),
                   [connection, has_room] { connection->begin(has_room); });
  }

  // No descriptor is left, or no memory: some may be when others have gone.
  void accept_later() {
    pause_.expires_after(kPause);
    pause_.async_wait([this](const error_code& error) {
      if (!error) accept();
    });
  }

  void look() {
    clock_.expires_after(kLook);
    clock_.async_wait([this](const error_code& error) {
      if (error) return;
      connections_->look(Connections::Clock::now());
      look();
    });
  }

  void stop_accepting() {
    asio::dispatch(acceptor_.get_executor(), [this] {
      error_code ignored;
      acceptor_.close(ignored);
    });
  }

  bool wait_until_closed(std::chrono::milliseconds patience) {
    const auto end = Connections::Clock::now() + patience;
    while (connections_->open > 0 && Connections::Clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return connections_->open == 0;
  }

  const std::shared_ptr<Connections> connections_;
  std::optional<asio::ssl::context> tls_;
  asio::io_context io_;
  tcp::acceptor acceptor_;
  const std::uint16_t port_;
  asio::steady_timer pause_, clock_;
  std::vector<std::thread> threads_;
};

Server::Server(ServerOptions options, Handler handler)
    : implementation_(std::make_unique<Implementation>(std::move(options), std::move(handler))) {}
Server::~Server() = default;
void Server::stop() { implementation_->stop(); }

std::uint16_t Server::port() const { return implementation_->port(); }
ServerCounts Server::counts() const { return implementation_->counts(); }
bool Server::drain(std::chrono::milliseconds patience) { return implementation_->drain(patience); }

}  // namespace krl::http
