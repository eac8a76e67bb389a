// One NVIDIA GPU as the device of a policy.
#pragma once

#include "plugins/policies/libtorch/engine/device.hpp"

namespace krl::libtorch {

// Makes a device of GPU number options.gpu among those that the process sees; it becomes the
// calling thread's current one. Errors as for MakeDevice.
std::unique_ptr<Device> make_cuda_device(const EngineOptions& options, WorkerThreads& threads);

}  // namespace krl::libtorch
