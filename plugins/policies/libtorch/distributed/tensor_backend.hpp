// The c10d backend for tensors of a device, created by the device's code.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace krl::libtorch {

class TensorBackend {
 public:
  virtual ~TensorBackend() = default;
  // Connects this rank with all others, which do the same. Throws what c10d throws.
  virtual c10::intrusive_ptr<c10d::Backend> connect(const c10::intrusive_ptr<c10d::Store>& store,
                                                    int rank, int size) = 0;
};

}  // namespace krl::libtorch
