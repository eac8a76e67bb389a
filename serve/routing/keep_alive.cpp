#include "serve/routing/keep_alive.hpp"

namespace krl::serve {

void keep_alive(Alarms& alarms, const std::shared_ptr<http::ServerCall>& call) {
  constexpr std::chrono::seconds kEvery{10};
  alarms.at(Alarms::Clock::now() + kEvery, [&alarms, weak = std::weak_ptr(call)] {
    const auto call = weak.lock();
    if (!call) return;
    call->send_event(":\n\n");
    keep_alive(alarms, call);
  });
}

}  // namespace krl::serve
