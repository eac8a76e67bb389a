// Values by key, each computed once for any number of concurrent requests (single flight); the most
// recently used ones are kept up to a size. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace krl::evaluator {

template <class Value>
class MemoryCache {
 public:
  using Pointer = std::shared_ptr<const Value>;

  // With `max_bytes` 0, nothing is kept, but concurrent requests for the same key still share the
  // result.
  explicit MemoryCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Returns the value under `key`, or computes it: `compute` returns the value and its size in
  // bytes (0: not to be kept). If `compute` throws, its caller gets the exception, and one of the
  // waiting threads computes instead.
  template <class Compute>
  Pointer get(const std::string& key, Compute compute) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto found = slots_.find(key);
      if (found == slots_.end()) break;
      const std::shared_ptr<Slot> slot = found->second;
      if (slot->value) {
        order_.splice(order_.begin(), order_, slot->place);
        return slot->value;
      }
      slot->done.wait(lock, [&] { return slot->value || slot->failed; });
      if (slot->value) return slot->value;
    }
    const auto slot = std::make_shared<Slot>();
    slots_.emplace(key, slot);
    lock.unlock();
    return lead(key, slot, compute);
  }

  // Drops the value that has been unused for the longest time; false if none is kept.
  bool drop_oldest() {
    const std::scoped_lock lock(mutex_);
    if (order_.empty()) return false;
    drop_last();
    return true;
  }

 private:
  struct Slot {
    Pointer value;
    bool failed = false;
    std::uint64_t bytes = 0;
    std::list<std::string>::iterator place;
    std::condition_variable done;
  };

  template <class Compute>
  Pointer lead(const std::string& key, const std::shared_ptr<Slot>& slot, Compute& compute) {
    try {
      auto [value, bytes] = compute();
      const std::scoped_lock lock(mutex_);
      slot->value = std::make_shared<const Value>(std::move(value));
      keep(key, slot, bytes);
      slot->done.notify_all();
      return slot->value;
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      slot->failed = true;
      slots_.erase(key);
      slot->done.notify_all();
      throw;
    }
  }

  void keep(const std::string& key, const std::shared_ptr<Slot>& slot, std::uint64_t bytes) {
    if (bytes == 0 || bytes > max_bytes_) {
      slots_.erase(key);
      return;
    }
    slot->bytes = bytes;
    slot->place = order_.insert(order_.begin(), key);
    bytes_ += bytes;
    while (bytes_ > max_bytes_) drop_last();
  }

  void drop_last() {
    const auto oldest = slots_.find(order_.back());
    bytes_ -= oldest->second->bytes;
    slots_.erase(oldest);
    order_.pop_back();
  }

  const std::uint64_t max_bytes_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Slot>> slots_;
  std::list<std::string> order_;  // keys of the kept entries, most recently used first
  std::uint64_t bytes_ = 0;
};

}  // namespace krl::evaluator
