// Errors inside the library, before it is known to which request they belong: the client turns them
// into a Failure.
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
