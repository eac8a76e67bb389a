// One NVIDIA GPU as the device of a policy.
#pragma once

#include "plugins/policies/libtorch/engine/device.hpp"

namespace krl::libtorch {

// The GPU number options.gpu of those that the process sees, which becomes the calling thread's
// current one. Errors as MakeDevice says.
std::unique_ptr<Device> make_cuda_device(const EngineOptions& options, WorkerThreads& threads);

}  // namespace krl::libtorch
