#include "http/client/pool.hpp"

#include <algorithm>

namespace krl::http {

Pool::Turn Pool::begin_turn(Limits& limits, Yield yield) {
  Signal signal(io_);
  const struct Place {
    Pool& pool;
    std::list<Signal*>::iterator at;
    ~Place() {
      pool.waiting_.erase(at);
      pool.wake_next();  // a turn that came together with the end of the patience is passed on
    }
  } place{*this, waiting_.insert(waiting_.end(), &signal)};
  while (free_ == 0 || waiting_.front() != &signal) signal.wait(limits, yield);
  --free_;
  return Turn(this);
}

void Pool::end_turn() {
  ++free_;
  wake_next();
}

void Pool::wake_next() {
  if (free_ > 0 && !waiting_.empty()) waiting_.front()->notify();
}

void Pool::keep(std::unique_ptr<Transport> transport) {
  kept_.push_back({std::move(transport), Patience::Clock::now()});
  drop_old();
}

std::unique_ptr<Transport> Pool::take() {
  drop_old();
  while (!kept_.empty()) {
    std::unique_ptr<Transport> transport = std::move(kept_.back().transport);
    kept_.pop_back();
    if (transport->is_quiet()) return transport;
  }
  return nullptr;
}

void Pool::drop_old() {
  const auto now = Patience::Clock::now();
  const auto first_fresh = std::find_if(
      kept_.begin(), kept_.end(), [&](const Kept& kept) { return now - kept.since < keep_idle_; });
  kept_.erase(kept_.begin(), first_fresh);
}

}  // namespace krl::http
