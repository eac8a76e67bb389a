#include "serve/judging/client_episodes.hpp"

namespace krl::serve {
namespace {

std::string key_of(const std::string& client, const std::string& name) {
  return std::to_string(client.size()) + " " + client + name;
}

}  // namespace

ClientEpisodes::Pointer ClientEpisodes::take(const std::string& key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return nullptr;
  Pointer episode = std::move(place->second->second);
  latest_.erase(place->second);
  places_.erase(place);
  return episode;
}

void ClientEpisodes::keep(const std::string& client, const std::string& name, Pointer episode) {
  const std::string key = key_of(client, name);
  std::unique_lock lock(mutex_);
  Pointer ended = take(key);
  if (!ended && latest_.size() >= kMost) ended = take(std::string(latest_.back().first));
  latest_.emplace_front(key, std::move(episode));
  places_[key] = latest_.begin();
  lock.unlock();
  if (ended) ended->leave();
}

ClientEpisodes::Pointer ClientEpisodes::find(const std::string& client, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto place = places_.find(key_of(client, name));
  if (place == places_.end()) return nullptr;
  latest_.splice(latest_.begin(), latest_, place->second);
  return place->second->second;
}

void ClientEpisodes::end(const std::string& client, const std::string& name) {
  std::unique_lock lock(mutex_);
  const Pointer ended = take(key_of(client, name));
  lock.unlock();
  if (ended) ended->leave();
}

}  // namespace krl::serve
