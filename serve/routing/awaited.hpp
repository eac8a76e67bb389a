// A value that comes later, and the calls that wait for it. Thread-safe.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "serve/routing/router.hpp"

namespace krl::serve {

// `Companion` goes with each call that waits, and ends with its wait.
template <class Value, class Companion = std::monostate>
class Awaited {
 public:
  // False if the value is there: nothing waits then. `accompany` makes the companion.
  template <class Accompany = Companion (*)()>
  bool add(
      const RoutedCall& call, const Accompany& accompany = [] { return Companion(); }) {
    const std::lock_guard lock(mutex_);
    if (!value_) waiting_.push_back({call, accompany()});
    return !value_;
  }

  // Gives a call back if it still waits.
  std::optional<RoutedCall> take(const http::ServerCall* call) {
    std::optional<Entry> taken;  // ends without the lock
    const std::lock_guard lock(mutex_);
    const auto place = std::ranges::find_if(
        waiting_, [&](const Entry& entry) { return entry.call.call.get() == call; });
    if (place == waiting_.end()) return std::nullopt;
    taken.emplace(std::move(*place));
    waiting_.erase(place);
    return taken->call;
  }

  // The value has come; returns the calls that waited.
  std::vector<RoutedCall> settle(Value value) {
    std::vector<Entry> entries;
    std::unique_lock lock(mutex_);
    value_ = std::move(value);
    entries.swap(waiting_);
    lock.unlock();
    std::vector<RoutedCall> calls;
    for (Entry& entry : entries) calls.push_back(std::move(entry.call));
    return calls;
  }

  std::optional<Value> value() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  struct Entry {
    RoutedCall call;
    Companion companion;
  };

  mutable std::mutex mutex_;  // guards the members below
  std::optional<Value> value_;
  std::vector<Entry> waiting_;
};

}  // namespace krl::serve
