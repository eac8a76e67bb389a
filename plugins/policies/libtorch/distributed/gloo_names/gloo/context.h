// The names of Gloo that torch's ProcessGroupGloo.hpp mentions: the wheel carries that header and
// Gloo itself, but not the headers of Gloo. Only declared: torch builds and uses these objects, we
// only hold them. See distributed/gloo_backend.cpp.
#pragma once

#include <chrono>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

}  // namespace gloo
