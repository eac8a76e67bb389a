// Overwrites the state that launches leave behind in the multiprocessors: shared memory, the local
// memory of each place that a thread may have, registers. No launch clears it, and no module owns
// it. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "plugins/backends/cuda/worker/driver.hpp"

namespace krl::gpu {

// The kernels' needs: memory that they do not use need not be overwritten.
struct Footprint {
  bool shared = false;
  std::uint32_t local_bytes = 0;  // per thread
};

class Leftovers {
 public:
  // `trusted`: finds a trusted kernel by its name.
  Leftovers(CUdevice device, const std::function<CUfunction(const char*)>& trusted);

  // Enqueues trusted kernels that take the place of any, and leave the poison of this number there.
  void overwrite(const Footprint& footprint, std::uint64_t poison);

 private:
  unsigned multiprocessors_, threads_, shared_bytes_;  // the last two of a multiprocessor
  CUfunction overwrite_;
  // Keyed by the bytes per thread that they write.
  std::map<std::uint32_t, CUfunction> overwrite_local_;
};

}  // namespace krl::gpu
