#include "serve/judging/secret_id.hpp"

#include <random>

#include "core/base/hash.hpp"

namespace krl::serve {

std::string secret_id() {
  std::random_device random;
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += std::to_string(random()) + " ";
  return sha256_hex(bytes).substr(0, 32);
}

}  // namespace krl::serve
