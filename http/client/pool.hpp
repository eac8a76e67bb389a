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
  struct End {
    void operator()(Pool* pool) const { pool->end_turn(); }
  };
  using Turn = std::unique_ptr<Pool, End>;

  // Waits for a turn; turns come in the order of the calls.
  Turn begin_turn(Limits& limits, Yield yield);

  void keep(std::unique_ptr<Transport> transport);
  // Returns the last used one that the server has not closed, as far as one can tell; null if there
  // is none.
  std::unique_ptr<Transport> take();

 private:
  struct Kept {
    std::unique_ptr<Transport> transport;
    Patience::Clock::time_point since;
  };

  void end_turn();
  void wake_next();
  void drop_old();

  boost::asio::io_context& io_;
  unsigned free_;
  std::list<Signal*> waiting_;

  const Duration keep_idle_;
  std::vector<Kept> kept_;  // in the order of `since`
};

}  // namespace krl::http
