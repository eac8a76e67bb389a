// Limits the exchanges with a server, and keeps its idle connections. Used by the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <list>
#include <memory>
#include <vector>

#include "http/client/options.hpp"
#include "http/client/transport.hpp"

namespace krl::http {

class Pool {
 public:
  Pool(boost::asio::io_context& io, const Options& options)
      : io_(io), free_(options.max_in_flight), keep_idle_(options.keep_idle) {}

  // The right to one of Options::max_in_flight exchanges, for as long as it lives.
  struct EndTurn {
    void operator()(Pool* pool) const {
      ++pool->free_;
      pool->wake_next();
    }
  };
  using Turn = std::unique_ptr<Pool, EndTurn>;

  // Waits for a turn; turns come in the order of the calls.
  Turn begin_turn(Limits& limits, Yield yield) {
    Signal signal(io_);
    const struct Place {
      Pool& pool;
      std::list<Signal*>::iterator at;
      ~Place() {
        pool.waiting_.erase(at);
        pool.wake_next();  // a turn that came together with the end of the patience is passed on
      }
    } place{*this, waiting_.insert(waiting_.end(), &signal)};
    while (free_ == 0 || waiting_.front() != &signal) signal.wait(limits, yield);
    --free_;
    return Turn(this);
  }

  void keep(std::unique_ptr<Transport> transport) {
    kept_.push_back({std::move(transport), Patience::Clock::now()});
    drop_old();
  }

  // Returns the last used one that the server has not closed, as far as one can tell; null if there
  // is none.
  std::unique_ptr<Transport> take() {
    drop_old();
    while (!kept_.empty()) {
      std::unique_ptr<Transport> transport = std::move(kept_.back().transport);
      kept_.pop_back();
      if (transport->is_quiet()) return transport;
    }
    return nullptr;
  }

 private:
  struct Kept {
    std::unique_ptr<Transport> transport;
    Patience::Clock::time_point since;
  };

  void wake_next() {
    if (free_ > 0 && !waiting_.empty()) waiting_.front()->notify();
  }
  void drop_old() {
    const auto now = Patience::Clock::now();
    std::erase_if(kept_, [&](const Kept& kept) { return now - kept.since >= keep_idle_; });
  }

  boost::asio::io_context& io_;
  unsigned free_;
  std::list<Signal*> waiting_;
  const Duration keep_idle_;
  std::vector<Kept> kept_;  // in the order of `since`
};

}  // namespace krl::http
