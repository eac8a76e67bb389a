// Idle connections. Used by the loop's thread.
#pragma once

#include <memory>
#include <vector>

#include "http/client/transport.hpp"

namespace krl::http {

class Pool {
 public:
  explicit Pool(Duration keep_idle) : keep_idle_(keep_idle) {}

  void keep(std::unique_ptr<Transport> transport);
  // Returns the last used one that the server has not closed, as far as one can tell; null if there
  // is none.
  std::unique_ptr<Transport> take();

 private:
  struct Kept {
    std::unique_ptr<Transport> transport;
    Patience::Clock::time_point since;
  };

  void drop_old();

  const Duration keep_idle_;
  std::vector<Kept> kept_;  // in the order of `since`
};

}  // namespace krl::http
