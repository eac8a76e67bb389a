// The GPUs used for evaluations, each leased to one at a time, in order of request. A GPU whose
// processes cannot be started is not used for a while: it may hang, and is never reset.
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/backends/cuda/gpu/gpu.hpp"

namespace krl::cuda {

class GpuPool {
 public:
  // Starts the processes of all `gpus`. REQUIRES: at least one.
  GpuPool(const std::vector<gpu::GpuDescription>& gpus, GpuWorkers workers);

  // Calls `use` with a GPU that no one else uses meanwhile. Passes on its exceptions; throws
  // Failure(KRL_CANCELLED), and Failure(KRL_UNAVAILABLE) if every GPU is out of order.
  void with_gpu(const std::function<bool()>& cancelled, const std::function<void(Gpu&)>& use);

  std::size_t size() const { return slots_.size(); }
  // Describes any of the GPUs: all are alike.
  const gpu::GpuDescription& description() const { return slots_.front()->gpu.description(); }
  // The digest of what decides an evaluation here: the GPU, its driver, the processes' programs.
  std::string identity() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Slot {
    Slot(const gpu::GpuDescription& description, const GpuWorkers& workers)
        : gpu(description, workers) {}
    Gpu gpu;
    bool lent = false;
    Clock::time_point out_of_order_until;
    std::string why;  // it is, or was, out of order
  };

  Slot* lend(const std::function<bool()>& cancelled);
  Slot* free_slot();

  const GpuWorkers workers_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint64_t> queue_;  // tickets of the waiting threads
  std::uint64_t next_ticket_ = 0;
};

}  // namespace krl::cuda
