#include "plugins/backends/cuda/worker/clock.hpp"

#include <dlfcn.h>

#include <array>
#include <cstring>

#include "plugins/backends/cuda/worker/driver.hpp"

namespace krl::gpu {
namespace {

// The part of nvml.h that is used; stable since version 2 of its functions.
using NvmlDevice = struct NvmlDeviceState*;
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlClockOfSms = 1;

class Nvml {
 public:
  explicit Nvml(int device) {
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    int (*init)() = nullptr;
    int (*by_bus)(const char*, NvmlDevice*) = nullptr;
    if (!find(library, "nvmlInit_v2", init) ||
        !find(library, "nvmlDeviceGetHandleByPciBusId_v2", by_bus) ||
        !find(library, "nvmlDeviceGetClockInfo", clock_) || init() != kNvmlSuccess) {
      return;
    }
    std::array<char, 64> bus{};
    CUdevice handle = 0;
    KRL_CUDA(cuDeviceGet, &handle, device);
    KRL_CUDA(cuDeviceGetPCIBusId, bus.data(), static_cast<int>(bus.size()), handle);
    if (by_bus(bus.data(), &device_) != kNvmlSuccess) device_ = nullptr;
  }

  double sm_clock_mhz() const {
    unsigned mhz = 0;
    if (device_ == nullptr || clock_(device_, kNvmlClockOfSms, &mhz) != kNvmlSuccess) return 0;
    return mhz;
  }

 private:
  template <class Function>
  static bool find(void* library, const char* name, Function& function) {
    void* symbol = ::dlsym(library, name);
    std::memcpy(&function, &symbol, sizeof symbol);
    return symbol != nullptr;
  }

  int (*clock_)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlDevice device_ = nullptr;
};

}  // namespace

double sm_clock_mhz(int device) {
  static const Nvml nvml(device);  // a process uses one GPU
  return nvml.sm_clock_mhz();
}

}  // namespace krl::gpu
