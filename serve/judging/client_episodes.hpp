// The episodes that clients come back to by a name, such as a session's id. The ones unused for
// longest are forgotten, and what they judge is cancelled. Thread-safe.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "serve/judging/client_episode.hpp"

namespace krl::serve {

class ClientEpisodes {
 public:
  static constexpr std::size_t kMost = 10000;

  using Pointer = std::shared_ptr<ClientEpisode>;

  // In the place of an earlier one of this name, which ends.
  void keep(const std::string& client, const std::string& name, Pointer episode);
  // Null if this client has none of this name.
  Pointer find(const std::string& client, const std::string& name);
  void end(const std::string& client, const std::string& name);

 private:
  using Entry = std::pair<std::string, Pointer>;

  Pointer take(const std::string& key);  // REQUIRES: mutex_

  std::mutex mutex_;
  std::list<Entry> latest_;  // the latest used first
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
};

}  // namespace krl::serve
