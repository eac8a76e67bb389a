#include "plugins/policies/openai/engine.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

namespace krl::openai {
namespace {

Patience patience_of(Seconds limit, std::function<bool()> cancelled) {
  return Patience::of(std::chrono::duration_cast<Clock::duration>(limit), std::move(cancelled));
}

}  // namespace

Engine::Engine(Settings settings, std::optional<ChatTokenizer> chat,
               std::function<bool()> cancelled,
               const std::function<void(const std::string&)>& waiting)
    : settings_(std::move(settings)),
      chat_(std::move(chat)),
      pool_(loop_.io(), settings_, [this](const std::string& text) { note(text); }),
      asking_(loop_.io(), pool_, settings_, [this](const std::string& text) { note(text); }),
      capacity_(pool_.capacity()) {
  std::exception_ptr failed;
  try {
    const Patience patience = patience_of(settings_.start_timeout, std::move(cancelled));
    found_ = loop_.run([&](Yield yield) {
      pool_.start(patience, waiting, yield);
      return pool_.found();
    });
    context_ = found_.context;
    if (settings_.context > 0) {
      if (context_ > 0 && settings_.context > context_) {
        invalid_argument("context is " + std::to_string(settings_.context) + ", but " +
                         found_.server + " takes " + std::to_string(context_) + " tokens");
      }
      context_ = settings_.context;
    }
  } catch (...) {
    failed = std::current_exception();
  }
  if (!failed) return;
  loop_.run([this](Yield yield) { pool_.close(yield); });
  std::rethrow_exception(failed);
}

Engine::~Engine() {
  loop_.run([this](Yield yield) { pool_.close(yield); });
}

std::uint64_t Engine::version() {
  return loop_.run([this](Yield) { return pool_.version(); });
}

void Engine::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  notes_.push_back(text);
}

std::vector<std::string> Engine::take_notes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notes_, {});
}

}  // namespace krl::openai
