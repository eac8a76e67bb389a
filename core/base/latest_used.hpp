// Values by key: those that were used latest, up to a size. Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace krl::core {

// `Value{}` stands for none: a null pointer, an empty optional. Values are destroyed by callers, not
// under the lock.
template <class Value>
class LatestUsed {
 public:
  // `most`: the sum of the sizes of the values; the latest one is kept whatever its size.
  explicit LatestUsed(std::size_t most) : most_(most) {}

  Value find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto place = use(key);
    return place == entries_.end() ? Value{} : place->value;
  }

  // The value that is there, or else this one, which is kept.
  Value find_or_keep(const std::string& key, Value value, std::size_t size = 1) {
    std::vector<Value> gone;
    const std::lock_guard lock(mutex_);
    if (const auto place = use(key); place != entries_.end()) return place->value;
    gone = put(key, value, size);
    return value;
  }

  // Returns what had to go: an earlier value of this key, and those that there is no room for.
  std::vector<Value> keep(const std::string& key, Value value, std::size_t size = 1) {
    const std::lock_guard lock(mutex_);
    return put(key, std::move(value), size);
  }

  // The value's size is another now. Returns those that there is no room for any more.
  std::vector<Value> resize(const std::string& key, std::size_t size) {
    const std::lock_guard lock(mutex_);
    const auto place = use(key);
    if (place == entries_.end()) return {};
    size_ = size_ - place->size + size;
    place->size = size;
    return shrink();
  }

  Value take(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto place = use(key);
    return place == entries_.end() ? Value{} : remove(place);
  }

  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::string key;
    Value value;
    std::size_t size;
  };
  using Place = typename std::list<Entry>::iterator;

  // REQUIRES: mutex_, as of those below.
  Place use(const std::string& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return entries_.end();
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second;
  }

  std::vector<Value> put(const std::string& key, Value value, std::size_t size) {
    std::vector<Value> gone;
    if (const auto earlier = use(key); earlier != entries_.end()) gone.push_back(remove(earlier));
    entries_.push_front({key, std::move(value), size});
    places_[key] = entries_.begin();
    size_ += size;
    std::ranges::move(shrink(), std::back_inserter(gone));
    return gone;
  }

  std::vector<Value> shrink() {
    std::vector<Value> gone;
    while (size_ > most_ && entries_.size() > 1) gone.push_back(remove(std::prev(entries_.end())));
    return gone;
  }

  Value remove(Place place) {
    Value value = std::move(place->value);
    size_ -= place->size;
    places_.erase(place->key);
    entries_.erase(place);
    return value;
  }

  const std::size_t most_;
  mutable std::mutex mutex_;  // guards the members below
  std::size_t size_ = 0;
  std::list<Entry> entries_;  // the latest used first
  std::unordered_map<std::string, Place> places_;
};

}  // namespace krl::core
