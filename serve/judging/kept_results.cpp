#include "serve/judging/kept_results.hpp"

namespace krl::serve {
namespace {

// About what an entry takes: the evaluation is about as large as its JSON.
std::size_t bytes_of(const ToldResult& told) { return 512 + 3 * told.json.size(); }

}  // namespace

ToldPointer KeptResults::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return nullptr;
  latest_.splice(latest_.begin(), latest_, found->second);
  return found->second->second;
}

void KeptResults::keep(const std::string& key, ToldPointer told) {
  const std::lock_guard lock(mutex_);
  if (places_.contains(key)) return;
  bytes_ += bytes_of(*told);
  latest_.emplace_front(key, std::move(told));
  places_[key] = latest_.begin();
  while (bytes_ > most_bytes_ && latest_.size() > 1) {
    bytes_ -= bytes_of(*latest_.back().second);
    places_.erase(latest_.back().first);
    latest_.pop_back();
  }
}

}  // namespace krl::serve
