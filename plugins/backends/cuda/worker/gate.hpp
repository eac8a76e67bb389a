// Holds back work enqueued on a GPU, so that launches are ready when their time begins, however
// slowly the host enqueues them. Used by one thread.
#pragma once

#include "plugins/backends/cuda/worker/driver.hpp"

namespace krl::gpu {

class Gate {
 public:
  // `wait`: krl_wait of the trusted kernels.
  explicit Gate(CUfunction wait);

  // Calls `enqueue`. What it enqueues waits until it opens the gate, or ends; at most some
  // milliseconds, should the driver itself have to wait for the GPU before it can continue.
  template <class Enqueue>
  void behind(const Enqueue& enqueue) {
    close();
    try {
      enqueue();
    } catch (...) {
      open();
      throw;
    }
    open();
  }
  void open();

 private:
  void close();

  CUfunction wait_;
  HostMemory memory_;
  CUdeviceptr flag_ = 0;  // in the memory, as the GPU sees it
};

}  // namespace krl::gpu
