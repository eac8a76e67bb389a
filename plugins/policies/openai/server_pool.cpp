#include "plugins/policies/openai/server_pool.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>

#include "http/base/loop.hpp"
#include "http/client/backoff.hpp"
#include "plugins/policies/openai/probe.hpp"
#include "plugins/policies/openai/waiting.hpp"

namespace krl::openai {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(10);
constexpr auto kLook = std::chrono::seconds(15);  // limit on probing a server
const Patience kForever{Clock::time_point::max(), {}};
constexpr std::size_t kMostHomes = std::size_t{1} << 16;

// No exchange begins while there is one.
class Pause {
 public:
  explicit Pause(unsigned* pauses) : pauses_(pauses) {
    if (pauses_ != nullptr) ++*pauses_;
  }
  ~Pause() {
    if (pauses_ != nullptr) --*pauses_;
  }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  unsigned* pauses_;
};

}  // namespace

ServerPool::ServerPool(boost::asio::io_context& io, const Settings& settings, Note note)
    : io_(io), settings_(settings), note_(std::move(note)) {
  for (const std::string& url : settings.base_urls) servers_.emplace_back(io, url, settings);
}

bool ServerPool::is_ready(const Server& server) const {
  return server.failures == 0 && server.version == version() && !server.is_uncertain;
}

std::vector<Server*> ServerPool::ready_servers() {
  std::vector<Server*> ready;
  for (Server& server : servers_) {
    if (is_ready(server)) ready.push_back(&server);
  }
  return ready;
}

void ServerPool::check_not_given_up() const {
  const auto given_up = [&](const Server& server) { return server.failures > settings_.retries; };
  if (std::all_of(servers_.begin(), servers_.end(), given_up)) {
    throw Failure(KRL_UNAVAILABLE, troubles());
  }
}

void ServerPool::start(const Patience& patience,
                       const std::function<void(const std::string&)>& waiting, Yield yield) {
  for (Server& server : servers_) {
    server.failures = 1;
    begin_recovery(server);
  }
  const auto healthy = [&](const Server& server) { return server.failures == 0; };
  const auto seen = [&](const Server& server) { return server.failures != 1; };
  for (bool told = false;;) {
    for (const Server& server : servers_) {
      if (!server.misfit.empty()) throw Failure(KRL_FAILED_PRECONDITION, server.misfit);
    }
    if (std::any_of(servers_.begin(), servers_.end(), healthy) &&
        std::all_of(servers_.begin(), servers_.end(), seen))
      return;
    if (!told && std::all_of(servers_.begin(), servers_.end(), seen)) {
      told = true;
      waiting("waiting for a server: " + troubles());
    }
    wait(io_, kMoment, patience, "no server is ready: " + troubles(), yield);
  }
}

void ServerPool::close(Yield yield) {
  closing_ = true;
  while (recoveries_ > 0) wait(io_, kMoment, kForever, "", yield);
}

Lease ServerPool::acquire(std::uint64_t conversation, const Patience& patience, Yield yield) {
  for (;;) {
    check_patience(patience, "no server has a free slot; " + troubles());
    if (pauses_ == 0) {
      if (Server* server = choose(conversation)) return Lease(*server);
      check_not_given_up();
    }
    wait(io_, kMoment, patience, "no server has a free slot; " + troubles(), yield);
  }
}

Server* ServerPool::choose(std::uint64_t conversation) {
  const auto home = homes_.find(conversation);
  if (home != homes_.end() && is_ready(*home->second) &&
      home->second->in_flight < settings_.concurrency)
    return home->second;
  Server* server = least_busy();
  if (server == nullptr) return nullptr;
  if (homes_.size() >= kMostHomes) homes_.clear();
  homes_[conversation] = server;
  ++server->conversations;
  return server;
}

// Among equally busy servers, prefers the one that was given fewer conversations.
Server* ServerPool::least_busy() {
  Server* best = nullptr;
  for (Server& server : servers_) {
    if (!is_ready(server) || server.in_flight >= settings_.concurrency) continue;
    const auto load = [](const Server& s) { return std::pair(s.in_flight, s.conversations); };
    if (best == nullptr || load(server) < load(*best)) best = &server;
  }
  return best;
}

std::string ServerPool::troubles() const {
  std::string all;
  for (const Server& server : servers_) {
    if (server.failures > 0 && !server.trouble.empty())
      all += (all.empty() ? "" : "; ") + server.trouble;
  }
  return all;
}

void ServerPool::failed(Server& server, const std::string& why) {
  if (server.failures > 0) return;  // it is paused already: others in flight failed with it
  server.failures = 1;
  server.trouble = why;
  server.paused_until = Clock::now() + http::backoff(settings_.http.retries, 1, jitter());
  note_(why + "; the server is paused");
  begin_recovery(server);
}

void ServerPool::begin_recovery(Server& server) {
  ++recoveries_;
  http::start(
      io_, [this, &server](Yield yield) { recover(server, yield); },
      [this](const std::exception_ptr&) { --recoveries_; });
}

// Looks at a server that failed until it has recovered.
void ServerPool::recover(Server& server, Yield yield) {
  while (!closing_ && server.failures > 0) {
    if (Clock::now() < server.paused_until) {
      wait(io_, kMoment, kForever, "", yield);
      continue;
    }
    std::optional<Failure> failure;
    try {
      bring_up(server, yield);
      if (server.version != version()) continue;  // others were adopted meanwhile
    } catch (const Failure& thrown) {
      failure = thrown;
    } catch (const std::exception& thrown) {
      failure = Failure(KRL_UNAVAILABLE, server.name() + ": " + thrown.what());
    }
    note_health(server, failure);
  }
}

void ServerPool::note_health(Server& server, const std::optional<Failure>& failure) {
  server.misfit.clear();
  if (!failure) {
    if (!server.trouble.empty()) note_(server.name() + " has recovered");
    server.failures = 0;
    server.trouble.clear();
    return;
  }
  server.trouble = failure->what();
  if (failure->code() == KRL_FAILED_PRECONDITION) server.misfit = failure->what();
  ++server.failures;
  server.paused_until =
      Clock::now() + http::backoff(settings_.http.retries, server.failures, jitter());
}

void ServerPool::bring_up(Server& server, Yield yield) {
  const auto closing = [this] { return closing_; };
  probe(server, settings_, Patience::of(kLook, closing), yield);
  if (found_ && found_->dialect != server.found.dialect) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  server.name() + ": is " + std::string(server.found.dialect->server) +
                      ", while others are " + std::string(found_->dialect->server) +
                      "; the servers of a policy must be alike");
  }
  if (!found_) found_ = server.found;
  if (!weights_ && server.is_uncertain) {
    throw Failure(KRL_UNAVAILABLE,
                  server.name() +
                      ": the new weights were only partly loaded, and there are no "
                      "earlier ones to restore; restart the server");
  }
  if (!weights_) return;
  server.version = 0;
  push_weights(
      server, *weights_,
      Patience::of(std::chrono::duration_cast<Clock::duration>(settings_.timeout), closing), yield);
}

void ServerPool::drain(const Patience& patience, Yield yield) const {
  const auto busy = [](const Server& server) { return server.in_flight > 0; };
  while (std::any_of(servers_.begin(), servers_.end(), busy)) {
    wait(io_, kMoment, patience, "answers in flight did not finish before the weight update",
         yield);
  }
}

void ServerPool::adopt(const PushedWeights& weights, const Patience& patience, Yield yield) {
  const bool pauses = !runs_beside(*found_->dialect, weights.kind);
  const Pause pause(pauses ? &pauses_ : nullptr);
  if (pauses) drain(patience, yield);
  for (unsigned tries = 0;; ++tries) {
    std::vector<Server*> ready;
    while ((ready = ready_servers()).empty()) {
      check_not_given_up();
      wait(io_, kMoment, patience, "no server is ready for new weights; " + troubles(), yield);
    }
    const std::optional<Failure> unreached = push_to(ready, weights, patience, yield);
    if (!unreached) return;
    if (tries >= settings_.retries) throw *unreached;
  }
}

// Throws if a server refuses the weights. Returns the first failure if all servers were out of
// reach: they rest.
std::optional<Failure> ServerPool::push_to(const std::vector<Server*>& ready,
                                           const PushedWeights& weights, const Patience& patience,
                                           Yield yield) {
  std::vector<std::optional<Failure>> failures(ready.size());
  const auto push = [&](std::size_t i, Yield own) {
    try {
      push_weights(*ready[i], weights, patience, own);
    } catch (const Failure& failure) {
      failures[i] = failure;
    } catch (const std::exception& error) {
      failures[i] = Failure(KRL_UNAVAILABLE, ready[i]->name() + ": " + error.what());
    }
  };
  http::side_by_side(io_, ready.size(), push, yield);
  for (const std::optional<Failure>& failure : failures) {
    if (!failure || failure->code() == KRL_UNAVAILABLE) continue;
    for (Server* server : ready) go_back(*server, failure->what());
    throw *failure;
  }
  const bool any_took = std::find(failures.begin(), failures.end(), std::nullopt) != failures.end();
  if (any_took) weights_ = weights;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (failures[i]) failed(*ready[i], failures[i]->what());
  }
  return any_took ? std::nullopt : failures.front();
}

// Returns to the weights that all servers have: the model's own exist alongside any adapter.
void ServerPool::go_back(Server& server, const std::string& why) {
  if (server.version == version() && !server.is_uncertain) return;
  if (!weights_ && !server.adapter.empty()) {
    server.adapter.clear();
    server.version = 0;
    return;
  }
  failed(server, why);
}

const Found& ServerPool::found() const { return *found_; }

unsigned ServerPool::capacity() const {
  return settings_.concurrency * static_cast<unsigned>(servers_.size());
}

}  // namespace krl::openai
