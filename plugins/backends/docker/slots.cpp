#include "plugins/backends/docker/slots.hpp"

#include <kernelrl/values.hpp>

#include "http/base/patience.hpp"

namespace krl::docker {

Slots::Slots(int count) : count_(static_cast<std::size_t>(count)) {
  for (int number = count; number-- > 0;) free_.push_back(number);
}

Slots::Lease Slots::take(const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex_);
  while (free_.empty()) {
    if (cancelled && cancelled()) throw Failure(KRL_CANCELLED, "cancelled");
    changed_.wait_for(lock, http::kCancelPoll);
  }
  const bool others = free_.size() < count_;
  const int number = free_.back();
  free_.pop_back();
  return {this, number, ++turns_, others};
}

void Slots::give_back(int number) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(number);
  }
  changed_.notify_one();
}

std::uint64_t Slots::turns() const {
  const std::lock_guard lock(mutex_);
  return turns_;
}

}  // namespace krl::docker
