// What went wrong inside the library, before anyone knows of which request: the client makes a
// Failure of it.
#pragma once

#include <string>
#include <system_error>

#include "plugins/http/failure.hpp"

namespace krl::http {

struct Trouble {
  Cause cause;
  Phase phase;
  std::string what;
  std::error_code error = {};
};

}  // namespace krl::http
