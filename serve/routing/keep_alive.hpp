// Keeps an event stream open while nothing happens.
#pragma once

#include <memory>

#include "http/server/server_call.hpp"
#include "serve/judging/alarms.hpp"

namespace krl::serve {

// Sends a comment every 10 s as long as the call lives, so that nobody on the way takes its
// connection for a dead one.
void keep_alive(Alarms& alarms, const std::shared_ptr<http::ServerCall>& call);

}  // namespace krl::serve
