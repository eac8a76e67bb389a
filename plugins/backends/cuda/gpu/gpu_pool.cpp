#include "plugins/backends/cuda/gpu/gpu_pool.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"

namespace krl::cuda {
namespace {

constexpr std::chrono::milliseconds kCancelPoll{50};
constexpr std::chrono::seconds kOutOfOrder{30};

}  // namespace

GpuPool::GpuPool(const std::vector<gpu::GpuDescription>& gpus, GpuWorkers workers)
    : workers_(std::move(workers)) {
  for (const gpu::GpuDescription& gpu : gpus) {
    slots_.push_back(std::make_unique<Slot>(gpu, workers_));
  }
}

std::string GpuPool::identity() const {
  files::Digest digest;
  digest.add(description().name).add(static_cast<std::uint64_t>(description().driver));
  digest.add(workers_.trusted_code).add(workers_.reference_device);
  for (const std::string& program : {workers_.runner, workers_.checker, workers_.profiler}) {
    digest.add(files::read_file_or_empty(program));
  }
  return digest.hex();
}

GpuPool::Slot* GpuPool::free_slot() {
  const auto now = Clock::now();
  bool all_out_of_order = true;
  for (const auto& slot : slots_) {
    const bool in_order = slot->out_of_order_until <= now;
    if (in_order && !slot->lent) return slot.get();
    all_out_of_order = all_out_of_order && !in_order;
  }
  if (all_out_of_order) {
    throw Failure(KRL_UNAVAILABLE,
                  "no usable GPU: " + slots_.front()->why + "; check them with nvidia-smi");
  }
  return nullptr;
}

GpuPool::Slot* GpuPool::lend(const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = next_ticket_++;
  queue_.push_back(ticket);
  const auto leave = [&] {
    std::erase(queue_, ticket);
    changed_.notify_all();
  };
  try {
    for (;;) {
      Slot* slot = queue_.front() == ticket ? free_slot() : nullptr;
      if (slot != nullptr) {
        slot->lent = true;
        leave();
        return slot;
      }
      changed_.wait_for(lock, kCancelPoll);
      if (cancelled && cancelled()) throw Failure(KRL_CANCELLED, "cancelled");
    }
  } catch (...) {
    leave();
    throw;
  }
}

void GpuPool::with_gpu(const std::function<bool()>& cancelled,
                       const std::function<void(Gpu&)>& use) {
  Slot* slot = lend(cancelled);
  const auto give_back = [&](Clock::time_point out_of_order_until, const std::string& why) {
    const std::scoped_lock lock(mutex_);
    slot->lent = false;
    slot->out_of_order_until = out_of_order_until;
    slot->why = why;
    changed_.notify_all();
  };
  try {
    use(slot->gpu);
  } catch (const WorkerDoesNotStart& failure) {
    give_back(Clock::now() + kOutOfOrder, failure.what());
    throw;
  } catch (...) {
    give_back({}, "");
    throw;
  }
  give_back({}, "");
}

}  // namespace krl::cuda
