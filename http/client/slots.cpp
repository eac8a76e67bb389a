#include "http/client/slots.hpp"

namespace krl::http {

// One that waits for its turn. A turn that comes together with the end of its patience is passed
// on.
struct Slots::Waiting {
  explicit Waiting(Slots& slots_waited_for)
      : slots(slots_waited_for),
        place(slots.waiting_.insert(slots.waiting_.end(), this)),
        signal(slots.io_) {}
  ~Waiting() {
    if (!served) slots.waiting_.erase(place);
    if (served && !taken) slots.give_back();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  Slots& slots;
  std::list<Waiting*>::iterator place;
  Signal signal;
  bool served = false, taken = false;
};

Slots::Slot Slots::take(Limits& limits, Yield yield) {
  if (free_ > 0) {
    --free_;
    return Slot(*this);
  }
  Waiting waiting(*this);
  waiting.signal.wait(limits, yield);
  waiting.taken = true;
  return Slot(*this);
}

void Slots::give_back() {
  if (waiting_.empty()) {
    ++free_;
    return;
  }
  Waiting& next = *waiting_.front();
  waiting_.pop_front();
  next.served = true;
  next.signal.notify();
}

}  // namespace krl::http
