// Empties the L2: it then contains none of a program's buffers, and no pending writes, which would
// count as the program's traffic. Used by one thread.
#pragma once

#include <cstdint>

#include "plugins/backends/cuda/worker/device_session.hpp"

namespace krl::gpu {

class ColdCache {
 public:
  // Takes memory of twice the L2 of GPU `device`. `session`: whose trusted kernels read it.
  ColdCache(const DeviceSession& session, int device);

  // Reads that memory, which writes back and evicts everything else. Enqueued, not waited for.
  void clear();

 private:
  CUfunction read_;
  std::uint64_t bytes_;
  DeviceMemory memory_, finding_;
  UploadBuffer range_;
  CUdeviceptr uploaded_range_ = 0;
};

}  // namespace krl::gpu
