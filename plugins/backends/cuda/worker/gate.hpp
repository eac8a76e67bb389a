// Holds back work enqueued on a GPU, so that launches are ready when their time begins, however
// slowly the host enqueues them. Used by one thread.
#pragma once

#include "plugins/backends/cuda/worker/driver.hpp"

namespace krl::gpu {

class Gate {
 public:
  // `wait`: krl_wait of the trusted kernels.
  explicit Gate(CUfunction wait);

  // Calls `enqueue`. The work that it enqueues waits until it opens the gate, or returns; at most
  // some milliseconds, in case the driver itself has to wait for the GPU before it can continue.
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
  CUdeviceptr flag_ = 0;  // address on the GPU of a flag in the memory
};

}  // namespace krl::gpu
