// The peak rates of this GPU, measured with our kernels.
#pragma once

#include "plugins/backends/cuda/worker/device_session.hpp"
#include "plugins/backends/cuda/worker/protocol.hpp"

namespace krl::gpu {

// The best of some tries each. Writes into the arena.
evaluator::Peaks measure_peaks(DeviceSession& session);

}  // namespace krl::gpu
