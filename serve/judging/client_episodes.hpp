// The episodes that clients come back to by a name, such as a session's id. The ones unused for
// longest are forgotten, and what they judge is cancelled. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "serve/judging/client_episode.hpp"
#include "serve/judging/clients_own.hpp"

namespace krl::serve {

class ClientEpisodes {
 public:
  static constexpr std::size_t kMost = 10000;

  using Pointer = std::shared_ptr<ClientEpisode>;

  // In the place of an earlier one of this name, which ends.
  void keep(const std::string& client, const std::string& name, Pointer episode) {
    for (const Pointer& gone : episodes_.keep(client, name, std::move(episode))) gone->leave();
  }
  // Null if this client has none of this name.
  Pointer find(const std::string& client, const std::string& name) {
    return episodes_.find(client, name);
  }
  void end(const std::string& client, const std::string& name) {
    if (const Pointer ended = episodes_.take(client, name)) ended->leave();
  }

 private:
  ClientsOwn<Pointer> episodes_{kMost};
};

}  // namespace krl::serve
