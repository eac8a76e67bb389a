#include "http/base/watch.hpp"

#include <cstdio>

namespace krl::http {
namespace {

using Clock = Patience::Clock;
using boost::system::error_code;

std::string text_of(Duration time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", std::chrono::duration<double>(time).count());
  return text;
}

std::string timeout_text(Phase phase, Duration limit) {
  const std::string within = " within " + text_of(limit);
  switch (phase) {
    case Phase::kSlot:
      return "no free connection" + within;
    case Phase::kConnect:
      return "no connection" + within;
    case Phase::kHandshake:
      return "no TLS handshake" + within;
    case Phase::kSend:
      return "the server took no more of the request" + within;
    case Phase::kFirstByte:
      return "no answer" + within;
    case Phase::kBody:
      break;
  }
  return "the response stalled" + within;
}

std::string deadline_text(Phase phase) {
  switch (phase) {
    case Phase::kSlot:
      return "no answer in time: it waited for its turn";
    case Phase::kConnect:
      return "no answer in time: not connected yet";
    case Phase::kHandshake:
      return "no answer in time: in the TLS handshake";
    case Phase::kSend:
      return "no answer in time: the request was not sent yet";
    case Phase::kFirstByte:
      break;
    case Phase::kBody:
      return "no whole answer in time";
  }
  return "no answer in time";
}

}  // namespace

struct Watch::Round : std::enable_shared_from_this<Watch::Round> {
  explicit Round(boost::asio::io_context& io) : timer(io) {}

  void begin() {
    if (turning) return;
    turning = true;
    timer.expires_after(kCancelPoll);
    timer.async_wait([self = shared_from_this()](const error_code& error) {
      self->turning = false;
      if (!error) self->look();
    });
  }

  void look() {
    const auto now = Clock::now();
    for (Limits* limits : under_way) limits->look(now);
    if (!under_way.empty()) begin();
  }

  boost::asio::steady_timer timer;
  std::list<Limits*> under_way;
  bool turning = false;
};

Watch::Watch(boost::asio::io_context& io) : round_(std::make_shared<Round>(io)) {}
Watch::~Watch() = default;

Limits::Limits(const Watch& watch, const Patience& patience)
    : round_(watch.round_),
      place_(round_->under_way.insert(round_->under_way.end(), this)),
      patience_(patience) {
  round_->begin();
  look(Clock::now());
}

Limits::~Limits() { round_->under_way.erase(place_); }

void Limits::enter(Phase phase, Duration limit) {
  phase_ = phase;
  phase_limit_ = limit;
  // A time-out of an earlier phase that the caller got over.
  if (end_ == End::kTimeout) end_ = End::kNone;
  progress();
  check();
}

void Limits::progress() {
  const auto now = Clock::now();
  const bool has_end = phase_limit_ < Clock::time_point::max() - now;
  phase_end_ = has_end ? now + phase_limit_ : Clock::time_point::max();
}

void Limits::look(Clock::time_point now) {
  if (end_ != End::kNone) return;
  if (patience_.cancelled && patience_.cancelled()) {
    end_ = End::kCancelled;
  } else if (now >= patience_.deadline) {
    end_ = End::kDeadline;
  } else if (now >= phase_end_) {
    end_ = End::kTimeout;
  } else {
    return;
  }
  if (waits_for_ != nullptr) waits_for_->stop();
}

void Limits::check() const {
  switch (end_) {
    case End::kNone:
      return;
    case End::kCancelled:
      throw Trouble{Cause::kCancelled, phase_, "cancelled"};
    case End::kDeadline:
      throw Trouble{Cause::kDeadline, phase_, deadline_text(phase_)};
    case End::kTimeout:
      throw Trouble{Cause::kTimeout, phase_, timeout_text(phase_, phase_limit_)};
  }
}

void Signal::wait(Limits& limits, Yield yield) {
  limits.during(*this, [&] {
    error_code notified;
    timer_.async_wait(yield[notified]);
  });
}

}  // namespace krl::http
