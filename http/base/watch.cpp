#include "http/base/watch.hpp"

#include <cstdio>

namespace krl::http {
namespace {

using Clock = Patience::Clock;
using boost::system::error_code;

// Names what does not come in time, by phase.
constexpr const char* kAwaited[] = {"no free connection", "no connection",
                                    "no TLS handshake",   "the server took no more of the request",
                                    "no answer",          "no more of the answer"};

std::string text_of(Cause cause, Phase phase, Duration limit) {
  if (cause == Cause::kCancelled) return "cancelled";
  const std::string awaited = kAwaited[static_cast<int>(phase)];
  if (cause == Cause::kDeadline) return awaited + " in time";
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3g s", std::chrono::duration<double>(limit).count());
  return awaited + " within " + seconds;
}

}  // namespace

void Watch::begin() {
  timer_.expires_after(kCancelPoll);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (error || self->under_way_.empty()) return;
    const auto now = Clock::now();
    for (Limits* limits : self->under_way_) limits->look(now);
    self->begin();
  });
}

Limits::Limits(std::shared_ptr<Watch> watch, const Patience& patience)
    : watch_(std::move(watch)),
      place_(watch_->under_way_.insert(watch_->under_way_.end(), this)),
      patience_(patience) {
  if (watch_->under_way_.size() == 1) watch_->begin();
  look(Clock::now());
}

Limits::~Limits() { watch_->under_way_.erase(place_); }

void Limits::enter(Phase phase, Duration limit) {
  phase_ = phase;
  phase_limit_ = limit;
  // A time-out of an earlier phase that the caller got over.
  if (end_ == Cause::kTimeout) end_.reset();
  progress();
  check();
}

void Limits::progress() {
  const auto now = Clock::now();
  const bool has_end = phase_limit_ < Clock::time_point::max() - now;
  phase_end_ = has_end ? now + phase_limit_ : Clock::time_point::max();
}

void Limits::look(Clock::time_point now) {
  if (end_) return;
  if (patience_.cancelled && patience_.cancelled()) {
    end_ = Cause::kCancelled;
  } else if (now >= patience_.deadline) {
    end_ = Cause::kDeadline;
  } else if (now >= phase_end_) {
    end_ = Cause::kTimeout;
  }
  if (end_ && stop_) stop_();
}

void Limits::check() const {
  if (end_) throw Trouble{*end_, phase_, text_of(*end_, phase_, phase_limit_)};
}

void Signal::wait(Limits& limits, Yield yield) {
  error_code notified;
  limits.during([this] { notify(); }, [&] { timer_.async_wait(yield[notified]); });
}

}  // namespace krl::http
