#include "http/client/connector.hpp"

#include <boost/asio/local/stream_protocol.hpp>

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
  if (server.scheme == Url::kHttps) tls_ = tls_context(options.ca_file);
  Timeouts& timeouts = tunnel_options_.timeouts;
  timeouts.send = timeouts.first_byte = timeouts.idle = options.timeouts.connect;
}

std::unique_ptr<Transport> Connector::connect(Limits& limits, Yield yield) {
  auto transport = connect_to_one(limits, yield);
  if (tls_) {
    if (proxy_) ask_proxy_for_tunnel(*transport, limits, yield);
    limits.enter(Phase::kHandshake, options_.timeouts.handshake);
    transport->begin_tls(*tls_, server_.host, limits, yield);
  }
  return transport;
}

std::vector<Transport::Socket::endpoint_type> Connector::endpoints(Limits& limits, Yield yield) {
  if (server_.scheme == Url::kUnix) {
    try {
      return {asio::local::stream_protocol::endpoint(server_.path)};
    } catch (const boost::system::system_error& error) {  // longer than a socket's path may be
      throw Trouble{Cause::kAddress, limits.phase(), error.code().message(), error.code()};
    }
  }
  const Addresses::Endpoints found = addresses_.find(limits, yield);
  return std::vector<Transport::Socket::endpoint_type>(found.begin(), found.end());
}

// One address after the other; each gets its share of the time, so that one which leads nowhere
// does not cost the others theirs.
std::unique_ptr<Transport> Connector::connect_to_one(Limits& limits, Yield yield) {
  const Duration limit = options_.timeouts.connect;
  limits.enter(Phase::kConnect, limit);
  const auto endpoints = this->endpoints(limits, yield);
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
  std::string refusal;
  try {
    const Exchanged exchanged = exchange(transport, tunnel_request(server_, *proxy_), nullptr,
                                         tunnel_options_, limits, yield);
    if (exchanged.answer.good() && exchanged.rest.empty()) return;
    refusal = "it answered " + std::to_string(exchanged.answer.status);
  } catch (const Trouble& trouble) {
    if (trouble.cause == Cause::kCancelled || trouble.cause == Cause::kDeadline ||
        trouble.cause == Cause::kTimeout) {
      throw Trouble{trouble.cause, Phase::kConnect, trouble.what};
    }
    refusal = trouble.what;
  }
  throw Trouble{Cause::kConnect, Phase::kConnect,
                "cannot connect through the proxy " + proxy_->text() + ": " + refusal};
}

}  // namespace krl::http
