// Makes connections to one server: over TCP or a Unix socket, through a proxy if there is one, with
// TLS if the URL requires it. Used by the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/base/url.hpp"
#include "http/client/addresses.hpp"
#include "http/client/options.hpp"
#include "http/client/transport.hpp"

namespace krl::http {

class Connector {
 public:
  // `options` must outlive it.
  Connector(boost::asio::io_context& io, const Url& server, const Options& options,
            std::optional<Url> proxy);

  // Throws Trouble.
  std::unique_ptr<Transport> connect(Limits& limits, Yield yield);

 private:
  std::vector<Transport::Socket::endpoint_type> endpoints(Limits& limits, Yield yield);
  std::unique_ptr<Transport> connect_to_one(Limits& limits, Yield yield);
  void ask_proxy_for_tunnel(Transport& transport, Limits& limits, Yield yield);

  boost::asio::io_context& io_;
  const Url server_;
  const Options& options_;
  Options tunnel_options_;  // options of the request to the proxy
  const std::optional<Url> proxy_;
  Addresses addresses_;  // the proxy's, if there is one
  std::optional<boost::asio::ssl::context> tls_;
};

}  // namespace krl::http
