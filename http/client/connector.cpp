#include "http/client/connector.hpp"

#include <boost/asio/local/stream_protocol.hpp>

#include "http/base/secrets.hpp"
#include "http/base/tls.hpp"
#include "http/client/exchange.hpp"

namespace krl::http {

namespace asio = boost::asio;

Connector::Connector(asio::io_context& io, const Url& server, const Options& options,
                     std::optional<Url> proxy)
    : io_(io),
      server_(server),
      options_(options),
      proxy_(std::move(proxy)),
      addresses_(io, proxy_ ? proxy_->host : server.host, proxy_ ? proxy_->port : server.port) {
  if (server.scheme == Url::kHttps) tls_ = tls_context(options.ca_file, options.verify);
  Timeouts& timeouts = tunnel_options_.timeouts;
  timeouts.send = timeouts.first_byte = timeouts.idle = options.timeouts.connect;
}

std::unique_ptr<Transport> Connector::connect(Limits& limits, Yield yield) {
  limits.enter(Phase::kConnect, options_.timeouts.connect);
  if (server_.scheme == Url::kUnix) return connect_to_socket(limits, yield);
  auto transport = connect_to_host(limits, yield);
  if (tls_) {
    if (proxy_) ask_proxy_for_tunnel(*transport, limits, yield);
    limits.enter(Phase::kHandshake, options_.timeouts.handshake);
    transport->begin_tls(*tls_, server_.host, limits, yield);
  }
  return transport;
}

std::unique_ptr<Transport> Connector::connect_to_socket(Limits& limits, Yield yield) {
  asio::local::stream_protocol::endpoint endpoint;
  try {
    endpoint = asio::local::stream_protocol::endpoint(server_.path);
  } catch (const boost::system::system_error& error) {  // longer than a socket's path may be
    throw Trouble{Cause::kAddress, limits.phase(), error.code().message(), error.code()};
  }
  auto transport = std::make_unique<Transport>(io_);
  transport->connect(endpoint, limits, yield);
  return transport;
}

// One address after the other; each gets its share of the time, so that one which leads nowhere
// does not cost the others theirs.
std::unique_ptr<Transport> Connector::connect_to_host(Limits& limits, Yield yield) {
  const Addresses::Endpoints endpoints = addresses_.find(limits, yield);
  const Duration limit = options_.timeouts.connect;
  const Duration share =
      limit == Duration::max() ? limit : limit / static_cast<Duration::rep>(endpoints.size());
  std::optional<Trouble> last;
  for (const auto& endpoint : endpoints) {
    limits.enter(Phase::kConnect, share);
    auto transport = std::make_unique<Transport>(io_);
    try {
      transport->connect(endpoint, limits, yield);
      return transport;
    } catch (const Trouble& trouble) {
      if (trouble.cause != Cause::kConnect && trouble.cause != Cause::kTimeout) throw;
      last = trouble;
    }
  }
  if (proxy_) last->what += " (the proxy " + proxy_->text() + ')';
  throw *std::move(last);
}

void Connector::ask_proxy_for_tunnel(Transport& transport, Limits& limits, Yield yield) {
  const bool is_v6 = server_.host.find(':') != std::string::npos;
  const std::string place =
      (is_v6 ? '[' + server_.host + ']' : server_.host) + ':' + std::to_string(server_.port);
  std::string head = "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n";
  const std::string login = basic_authorization(*proxy_);
  if (!login.empty()) head += "Proxy-Authorization: " + login + "\r\n";
  Exchange exchange(transport, tunnel_options_, limits, yield);
  std::string refusal;
  try {
    exchange.send(head + "\r\n", {});
    const auto reader = exchange.read_head(false, nullptr);
    if (!reader) throw exchange.closed_early();
    const unsigned status = reader->answer.status;
    if (reader->answer.good() && exchange.rest().empty()) return;
    refusal = "it answered " + std::to_string(status);
  } catch (const Trouble& trouble) {
    const bool is_callers = trouble.cause == Cause::kCancelled || trouble.cause == Cause::kDeadline;
    if (is_callers || trouble.cause == Cause::kTimeout) {
      throw Trouble{trouble.cause, Phase::kConnect, trouble.what};
    }
    refusal = trouble.what;
  }
  throw Trouble{Cause::kConnect, Phase::kConnect,
                "cannot connect through the proxy " + proxy_->text() + ": " + refusal};
}

}  // namespace krl::http
