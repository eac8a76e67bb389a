// The servers of a policy: selects the one that answers next. A conversation stays with one server,
// which has its prompt in the cache, as long as that is healthy and has room; otherwise the least
// busy one takes it. A failing server is paused, longer each time, and probed until it works again.
//
// Used only on the loop's thread, except for the constructor.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "plugins/policies/openai/server.hpp"
#include "plugins/policies/openai/weight_push.hpp"

namespace krl::openai {

// A place for one exchange with a server, until it is destroyed.
class Lease {
 public:
  explicit Lease(Server& server) : server_(&server) { ++server.in_flight; }
  Lease(Lease&& other) noexcept : server_(std::exchange(other.server_, nullptr)) {}
  Lease& operator=(Lease&&) = delete;
  ~Lease() {
    if (server_ != nullptr) --server_->in_flight;
  }
  Server& server() const { return *server_; }

 private:
  Server* server_;
};

class ServerPool {
 public:
  using Note = std::function<void(const std::string&)>;

  // `note` is told, on the loop's thread, of servers that fail or have recovered.
  ServerPool(boost::asio::io_context& io, const Settings& settings, Note note);

  // Waits until a server is healthy and the others have been looked at. Throws krl::Failure if none
  // is by the deadline, or one is not what the settings say.
  // `waiting` is told once if the first look at the servers found none ready.
  void start(const Patience& patience, const std::function<void(const std::string&)>& waiting,
             Yield yield);
  // Ends what start() and failed() have begun. To be called, on the loop, before the destructor.
  void close(Yield yield);

  // Waits for a healthy server with a free slot. Throws krl::Failure: KRL_UNAVAILABLE if all have
  // failed more often in a row than Settings::retries; KRL_CANCELLED; KRL_DEADLINE_EXCEEDED.
  Lease acquire(std::uint64_t conversation, const Patience& patience, Yield yield);

  // An exchange with this server has failed, and it seems that the next would as well.
  void failed(Server& server, const std::string& why);

  // All servers sample with these weights once this has returned; one that is out of reach gets
  // them before it samples again. Exchanges in progress are waited for, where they would else
  // continue with the new weights. Throws krl::Failure if a server refuses them, or none was within
  // reach in Settings::retries tries more: all sample with those before then.
  void adopt(const PushedWeights& weights, const Patience& patience, Yield yield);

  // Describes the servers that have been found; all speak one dialect.
  const Found& found() const;
  std::uint64_t version() const { return weights_ ? weights_->version : 0; }
  // The exchanges that can be in flight.
  unsigned capacity() const;
  std::size_t size() const { return servers_.size(); }

 private:
  bool is_ready(const Server& server) const;
  std::vector<Server*> ready_servers();
  void check_not_given_up() const;
  Server* choose(std::uint64_t conversation);
  Server* least_busy();
  std::string troubles() const;
  void recover(Server& server, Yield yield);
  void note_health(Server& server, const std::optional<Failure>& failure);
  void bring_up(Server& server, Yield yield);
  void begin_recovery(Server& server);
  std::optional<Failure> push_to(const std::vector<Server*>& ready, const PushedWeights& weights,
                                 const Patience& patience, Yield yield);
  void go_back(Server& server, const std::string& why);
  void drain(const Patience& patience, Yield yield) const;

  boost::asio::io_context& io_;
  const Settings& settings_;
  Note note_;
  std::deque<Server> servers_;
  std::unordered_map<std::uint64_t, Server*> homes_;  // servers of conversations
  std::optional<PushedWeights> weights_;
  std::optional<Found> found_;
  bool closing_ = false;
  unsigned recoveries_ = 0, pauses_ = 0;
};

}  // namespace krl::openai
