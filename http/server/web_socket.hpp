// Turns a connection into a WebSocket (RFC 6455), on Boost.Beast.
#pragma once

#include <boost/beast/http/message.hpp>
#include <functional>
#include <memory>

#include "http/server/server_call.hpp"

namespace krl::http {

// `request` asks for the upgrade. On the connection's strand; `opened` is called there once the
// client has been told, and not if it has left.
void open_web_socket(std::shared_ptr<Connection> connection,
                     boost::beast::http::request_header<> request,
                     std::function<void(std::shared_ptr<WebSocket>)> opened);

}  // namespace krl::http
