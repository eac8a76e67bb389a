// Gloo, the backend of c10d that works on CPUs.
#pragma once

#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace krl::libtorch {

// Connects this rank with all others, which must do the same, through `store`. `address` is this
// machine's, as the others reach it; GLOO_SOCKET_IFNAME goes before it. `timeout` is for
// connecting; calls bring their own. Throws what c10d throws.
c10::intrusive_ptr<c10d::Backend> connect_gloo(const c10::intrusive_ptr<c10d::Store>& store,
                                               int rank, int size, const std::string& address,
                                               std::chrono::milliseconds timeout);

}  // namespace krl::libtorch
