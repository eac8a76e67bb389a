#include "plugins/backends/cuda/worker/gate.hpp"

#include <atomic>

namespace krl::gpu {
namespace {

constexpr long long kMostClocks = 20'000'000;  // about 10 ms

}  // namespace

Gate::Gate(CUfunction wait) : wait_(wait), memory_(allocate_host(sizeof(int))) {
  KRL_CUDA(cuMemHostGetDevicePointer, &flag_, memory_.get(), 0);
}

void Gate::close() {
  std::atomic_ref(*static_cast<int*>(memory_.get())).store(0);
  long long most_clocks = kMostClocks;
  void* arguments[] = {&flag_, &most_clocks};
  KRL_CUDA(cuLaunchKernel, wait_, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
}

void Gate::open() { std::atomic_ref(*static_cast<int*>(memory_.get())).store(1); }

}  // namespace krl::gpu
