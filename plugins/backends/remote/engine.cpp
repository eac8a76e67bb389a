#include "plugins/backends/remote/engine.hpp"

#include <utility>

namespace krl::remote {

Engine::Engine(Settings settings, const std::function<bool()>& cancelled)
    : settings_(std::move(settings)),
      fleet_(loop_.io(), settings_, [this](const std::string& text) {
        const std::lock_guard lock(mutex_);
        notes_.push_back(text);
      }) {
  try {
    loop_.run([&](Yield yield) { fleet_.start(cancelled, yield); });
  } catch (...) {
    loop_.run([&](Yield yield) { fleet_.close(yield); });
    throw;
  }
}

Engine::~Engine() {
  loop_.run([&](Yield yield) { fleet_.close(yield); });
}

ServerInfo Engine::info() {
  return loop_.run([&](Yield) { return fleet_.info(); });
}

Judged Engine::judge(const Wanted& wanted, const Patience& patience) {
  return loop_.run([&](Yield yield) {
    return JudgingCall(loop_.io(), fleet_, settings_, wanted, patience).judge(yield);
  });
}

std::vector<std::string> Engine::take_notes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notes_, {});
}

}  // namespace krl::remote
