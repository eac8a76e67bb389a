#include "plugins/backends/remote/rendezvous.hpp"

#include <kernelrl/seeds.hpp>

namespace krl::remote {

std::uint64_t weight(std::uint64_t content, std::string_view member) {
  std::uint64_t state = mixed(content);
  for (const char c : member) state = mixed(state + kSeedStep + static_cast<unsigned char>(c));
  return state;
}

}  // namespace krl::remote
