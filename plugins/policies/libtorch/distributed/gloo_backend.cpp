#include "plugins/policies/libtorch/distributed/gloo_backend.hpp"

#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace krl::libtorch {

c10::intrusive_ptr<c10d::Backend> connect_gloo(const c10::intrusive_ptr<c10d::Store>& store,
                                               int rank, int size, const std::string& address,
                                               std::chrono::milliseconds timeout) {
  using Gloo = c10d::ProcessGroupGloo;
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  const auto options = Gloo::Options::create(timeout);
  options->devices.push_back(interface != nullptr && *interface != '\0'
                                 ? Gloo::createDeviceForInterface(interface)
                                 : Gloo::createDeviceForHostname(address));
  return c10::make_intrusive<Gloo>(store, rank, size, options);
}

}  // namespace krl::libtorch
