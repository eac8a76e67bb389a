// The episodes that clients come back to by a name, such as a session's id. The ones unused for
// longest are forgotten, and what they judge is cancelled. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/judging/client_episode.hpp"
#include "serve/judging/clients_own.hpp"

namespace krl::serve {

class ClientEpisodes {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of all together

  using Pointer = std::shared_ptr<ClientEpisode>;

  explicit ClientEpisodes(std::size_t most_bytes = kMostBytes) : episodes_(most_bytes) {}

  // In the place of an earlier one of this name, which ends.
  void keep(const std::string& client, const std::string& name, Pointer episode) {
    leave(episodes_.keep(client, name, std::move(episode), kLeastBytes));
  }
  // Null if this client has none of this name.
  Pointer find(const std::string& client, const std::string& name) {
    Pointer episode = episodes_.find(client, name);
    if (episode) leave(episodes_.resize(client, name, kLeastBytes + episode->bytes()));
    return episode;
  }
  void end(const std::string& client, const std::string& name) {
    if (const Pointer ended = episodes_.take(client, name)) ended->leave();
  }

 private:
  static constexpr std::size_t kLeastBytes = std::size_t{16} << 10;  // of one without turns

  static void leave(const std::vector<Pointer>& gone) {
    for (const Pointer& episode : gone) episode->leave();
  }

  ClientsOwn<Pointer> episodes_;
};

}  // namespace krl::serve
