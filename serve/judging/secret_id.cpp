#include "serve/judging/secret_id.hpp"

#include <fmt/format.h>

#include <random>

namespace krl::serve {

std::string secret_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

}  // namespace krl::serve
